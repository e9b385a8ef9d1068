/** Checks networks in CIDR notation as the API server's `isCIDR` does. */
import { isIPv4, isIPv6 } from "node:net";

/**
 * True for an IPv4 or IPv6 address, a slash and a prefix length.
 *
 * As the API server: no zone, no leading zeros in the length, no IPv6 address that maps an IPv4 one; bits beyond the
 * prefix may be set.
 */
export function isCidr(text: string): boolean {
  const slash = text.lastIndexOf("/");
  if (slash < 0) return false;
  const address = text.slice(0, slash);
  const length = text.slice(slash + 1);
  if (!/^(0|[1-9][0-9]{0,2})$/.test(length)) return false;
  if (isIPv4(address)) return Number(length) <= 32;
  return isIPv6(address) && !address.includes("%") && Number(length) <= 128 && !mapsIpv4(address);
}

/** `::ffff:a.b.c.d` in any spelling: five groups of zeros, then `ffff`, then the IPv4 address. */
function mapsIpv4(address: string): boolean {
  const dotted = address.includes(".");
  const [head = "", tail] = address.toLowerCase().split("::");
  const groupsOf = (part: string): string[] => (part === "" ? [] : part.split(":"));
  const first = groupsOf(head);
  const last = tail === undefined ? [] : groupsOf(tail);
  // A dotted address fills the place of two groups.
  const missing = 8 - first.length - last.length - (dotted ? 1 : 0);
  const groups = [...first, ...Array.from({ length: tail === undefined ? 0 : missing }, () => "0"), ...last];
  return groups.slice(0, 5).every((group) => Number.parseInt(group, 16) === 0) && /^0*ffff$/.test(groups[5] ?? "");
}
