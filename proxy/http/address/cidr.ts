/**
 * Matches addresses against lists of CIDR blocks, compiled once into integers; a match allocates nothing.
 *
 * IPv4 and IPv6 are two spaces: `::/0` holds no IPv4 address and `0.0.0.0/0` no IPv6 address. A block inside
 * `::ffff:0:0/96` is the IPv4 block it maps. Bits behind the prefix are ignored, as Kubernetes' own `isCIDR` does.
 */
import { type IpAddress, parseIpAddress } from "./ip-address.ts";

interface Block {
  readonly network: IpAddress;
  /** One mask a word of `IpAddress`. */
  readonly high: number;
  readonly highMiddle: number;
  readonly lowMiddle: number;
  readonly low: number;
}

/** Compiled form of a list; opaque to callers. */
export interface CidrList {
  readonly ipv4: readonly Block[];
  readonly ipv6: readonly Block[];
}

const compiled = new WeakMap<readonly string[], CidrList>();

/**
 * Compiled once per array, so give the same array again and never change it.
 * @throws RangeError naming an entry that is no CIDR block: the operator's validation let something through, and
 *   leaving it out could open a restriction
 */
export function compileCidrs(cidrs: readonly string[]): CidrList {
  const known = compiled.get(cidrs);
  if (known !== undefined) return known;
  const blocks = cidrs.map(compileBlock);
  const list = {
    ipv4: blocks.filter((block) => block.network.family === 4),
    ipv6: blocks.filter((block) => block.network.family === 6),
  };
  compiled.set(cidrs, list);
  return list;
}

/** Whether the text is a CIDR block that `compileCidrs` takes. */
export function isCidr(text: string): boolean {
  return parseBlock(text) !== undefined;
}

/** Whether any block of the list holds the address. */
export function cidrsContain(list: CidrList, address: IpAddress): boolean {
  for (const block of address.family === 4 ? list.ipv4 : list.ipv6) {
    const { network } = block;
    const isInside =
      ((address.low ^ network.low) & block.low) === 0 &&
      ((address.high ^ network.high) & block.high) === 0 &&
      ((address.highMiddle ^ network.highMiddle) & block.highMiddle) === 0 &&
      ((address.lowMiddle ^ network.lowMiddle) & block.lowMiddle) === 0;
    if (isInside) return true;
  }
  return false;
}

function compileBlock(text: string): Block {
  const block = parseBlock(text);
  if (block === undefined) throw new RangeError(`not a CIDR block: ${JSON.stringify(text)}`);
  return block;
}

function parseBlock(text: string): Block | undefined {
  const slash = text.indexOf("/");
  const network = slash < 0 ? undefined : parseIpAddress(text.slice(0, slash));
  const digits = text.slice(slash + 1);
  if (network === undefined || !/^(?:0|[1-9][0-9]{0,2})$/.test(digits)) return undefined;
  const isMapped = network.family === 4 && text.includes(":");
  const bits = Number(digits) - (isMapped ? 96 : 0);
  if (bits < 0 || bits > (network.family === 4 ? 32 : 128)) return undefined;
  if (network.family === 4) return { network, high: 0, highMiddle: 0, lowMiddle: 0, low: mask(bits) };
  return { network, high: mask(bits), highMiddle: mask(bits - 32), lowMiddle: mask(bits - 64), low: mask(bits - 96) };
}

/** The highest `bits` bits of a word; fewer than 0 count as 0, more than 32 as 32. */
function mask(bits: number): number {
  if (bits <= 0) return 0;
  return bits >= 32 ? -1 : -1 << (32 - bits);
}
