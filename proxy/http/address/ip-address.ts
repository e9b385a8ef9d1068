/**
 * Reads IP addresses into integers, strictly: one family of spellings, no octal, hexadecimal or short forms, no zone,
 * no port.
 *
 * A text that two programs could read as two addresses is not an address here (docs/design/reliability.md B3): the
 * caller then knows none, and a key with address rules refuses. An IPv4 address mapped into IPv6 is the IPv4 address.
 */
import { isIPv4, isIPv6 } from "node:net";

/** Immutable. IPv4 uses `low` alone; words are unsigned 32-bit integers, most significant first. */
export interface IpAddress {
  readonly family: 4 | 6;
  readonly high: number;
  readonly highMiddle: number;
  readonly lowMiddle: number;
  readonly low: number;
}

/** The longest address there is: eight groups of four with an embedded IPv4 part. */
const addressLengthMax = 45;
const mappedPrefix = 0xffff;

/** @returns undefined when the text is not exactly one address in its standard form */
export function parseIpAddress(text: string): IpAddress | undefined {
  if (text.length > addressLengthMax) return undefined;
  if (isIPv4(text)) return ipv4(parseDotted(text));
  if (text.includes("%") || !isIPv6(text)) return undefined;
  const groups = expandGroups(text);
  const word = (index: number): number => (((groups[index] ?? 0) << 16) | (groups[index + 1] ?? 0)) >>> 0;
  const address = { family: 6, high: word(0), highMiddle: word(2), lowMiddle: word(4), low: word(6) } as const;
  const isMapped = address.high === 0 && address.highMiddle === 0 && address.lowMiddle === mappedPrefix;
  return isMapped ? ipv4(address.low) : address;
}

/**
 * The address of a socket as Node gives it: as above, and a link-local address may carry its zone.
 * @param text `socket.remoteAddress`; undefined once the socket is destroyed
 */
export function parseSocketAddress(text: string | undefined): IpAddress | undefined {
  if (text === undefined) return undefined;
  const known = peers.get(text);
  if (known !== undefined) return known;
  const zone = text.indexOf("%");
  const address = parseIpAddress(zone < 0 ? text : text.slice(0, zone));
  if (address === undefined) return undefined;
  if (peers.size >= peersMax) peers.clear();
  peers.set(text, address);
  return address;
}

/** A connection carries many calls, and most of them come from a few proxies in front. */
const peers = new Map<string, IpAddress>();
const peersMax = 1_000;

/** The address in text, for logs: dotted, or eight groups without abbreviation. */
export function formatIpAddress(address: IpAddress): string {
  const { family, high, highMiddle, lowMiddle, low } = address;
  if (family === 4) return `${low >>> 24}.${(low >>> 16) & 255}.${(low >>> 8) & 255}.${low & 255}`;
  const words = [high, highMiddle, lowMiddle, low];
  return words.map((word) => `${(word >>> 16).toString(16)}:${(word & 0xffff).toString(16)}`).join(":");
}

function ipv4(value: number): IpAddress {
  return { family: 4, high: 0, highMiddle: 0, lowMiddle: 0, low: value };
}

/**
 * The eight groups of an address that Node has found valid. Not by ipaddr.js: it reads `::1.2.3.4` as the mapped
 * address `::ffff:1.2.3.4`, so a rule for one would let the other in.
 */
function expandGroups(text: string): number[] {
  const [head = "", tail] = text.split("::");
  const before = readGroups(head);
  if (tail === undefined) return before;
  const after = readGroups(tail);
  return [...before, ...new Array<number>(8 - before.length - after.length).fill(0), ...after];
}

function readGroups(text: string): number[] {
  if (text === "") return [];
  return text.split(":").flatMap((group) => {
    if (!group.includes(".")) return [Number.parseInt(group, 16)];
    const embedded = parseDotted(group);
    return [embedded >>> 16, embedded & 0xffff];
  });
}

function parseDotted(text: string): number {
  let value = 0;
  let octet = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === 0x2e) {
      value = value * 256 + octet;
      octet = 0;
    } else octet = octet * 10 + code - 0x30;
  }
  return value * 256 + octet;
}
