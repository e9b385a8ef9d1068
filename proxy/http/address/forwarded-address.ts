/**
 * Reads the address in an entry of `X-Forwarded-For`. Some proxies write it with the client's port: Azure Application
 * Gateway appends `IP:port` (its FAQ, format of `X-Forwarded-For`), and an IPv6 address is then in brackets (RFC 3986
 * section 3.2.2).
 *
 * Port and brackets are removed; the rest is read as strictly as ever. IPv6 without brackets has no port: its last
 * group could be taken for one.
 */
import { type IpAddress, parseIpAddress } from "./ip-address.ts";

const bracketed = /^\[([^[\]]*)\](?::(\d{1,5}))?$/;
const dottedWithPort = /^(\d{1,3}(?:\.\d{1,3}){3}):(\d{1,5})$/;
const portMax = 65_535;

/**
 * @param entry without the space around it
 * @returns undefined for whatever is not exactly one address, with or without a port: names, quotes, zones among it
 */
export function parseForwardedAddress(entry: string): IpAddress | undefined {
  const [, ip6, portOf6] = bracketed.exec(entry) ?? [];
  // Brackets hold IPv6 alone: IPv4 in them is nobody's spelling.
  if (ip6 !== undefined) return ip6.includes(":") && isPort(portOf6) ? parseIpAddress(ip6) : undefined;
  const [, ip4, portOf4] = dottedWithPort.exec(entry) ?? [];
  if (ip4 !== undefined) return isPort(portOf4) ? parseIpAddress(ip4) : undefined;
  return parseIpAddress(entry);
}

function isPort(digits: string | undefined): boolean {
  return digits === undefined || Number(digits) <= portMax;
}
