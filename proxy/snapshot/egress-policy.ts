/**
 * Decides which network addresses a channel may connect to (docs/design/configuration.md 1.6).
 *
 * It is part of the contract because both sides decide: the operator when it compiles a literal address, the proxy
 * when a name has been resolved, at connect, so that a name that changes its address cannot lead inside (DNS
 * rebinding). Public addresses are open; private ones only within the fleet's `egress.allowCIDRs`; link-local,
 * metadata, multicast and unspecified addresses never.
 */
import { BlockList, isIP } from "node:net";

export type EgressVerdict = "allowed" | "private" | "forbidden" | "not-an-address";

/** Never reachable, whatever is allowed: link-local (cloud metadata), multicast, unspecified, broadcast. */
const forbidden = new BlockList();
for (const [network, prefix, hex] of [
  ["0.0.0.0", 8, "0:0"],
  ["169.254.0.0", 16, "a9fe:0"],
  // Azure's host serves there keys and settings of the machine, though the address is a public one.
  ["168.63.129.16", 32, "a83f:8110"],
  ["224.0.0.0", 4, "e000:0"],
  ["255.255.255.255", 32, "ffff:ffff"],
] as const) {
  forbidden.addSubnet(network, prefix, "ipv4");
  // The same by way of a translator (NAT64) or a tunnel (6to4): whoever allows those ranges does not mean these.
  forbidden.addSubnet(`64:ff9b::${hex}`, 96 + prefix, "ipv6");
  forbidden.addSubnet(`2002:${hex}::`, 16 + prefix, "ipv6");
}
for (const [network, prefix] of [
  ["::", 128],
  ["fe80::", 10],
  ["ff00::", 8],
  ["fd00:ec2::254", 128],
] as const) {
  forbidden.addSubnet(network, prefix, "ipv6");
}

/** Not of the public internet: only by consent. Ranges that embed IPv4 addresses count as private altogether. */
const inner = new BlockList();
for (const [network, prefix] of [
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["240.0.0.0", 4],
] as const) {
  inner.addSubnet(network, prefix, "ipv4");
}
for (const [network, prefix] of [
  // v4-compatible (deprecated) and loopback.
  ["::", 96],
  ["64:ff9b::", 96],
  ["64:ff9b:1::", 48],
  ["100::", 64],
  ["2001::", 32],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["fc00::", 7],
  ["fec0::", 10],
] as const) {
  inner.addSubnet(network, prefix, "ipv6");
}

export class EgressPolicy {
  readonly #allowed = new BlockList();

  /** @param allowCIDRs `egress.allowCIDRs`; forms were checked by the snapshot's validator, others are ignored. */
  constructor(allowCIDRs: readonly string[]) {
    for (const cidr of allowCIDRs) {
      const [network = "", prefix = ""] = cidr.split("/");
      const family = isIP(network);
      const lengthMax = family === 4 ? 32 : 128;
      const length = prefix === "" ? lengthMax : Number(prefix);
      if (family === 0 || network.includes("%") || !/^[0-9]*$/.test(prefix) || length > lengthMax) continue;
      this.#allowed.addSubnet(network, length, family === 4 ? "ipv4" : "ipv6");
    }
  }

  /** Judges a literal address, without brackets; one with a zone is of a link of this machine. */
  judge(text: string): EgressVerdict {
    const family = isIP(text);
    if (family === 0) return "not-an-address";
    // BlockList throws for a zone behind a long spelling, though `isIP` takes it for an address.
    const [address = "", zone] = text.split("%");
    // A v4-mapped address reaches the v4 address: BlockList compares it with v4 rules by itself.
    const type = family === 4 ? "ipv4" : "ipv6";
    if (forbidden.check(address, type)) return "forbidden";
    if (this.#allowed.check(address, type)) return "allowed";
    return inner.check(address, type) || zone !== undefined ? "private" : "allowed";
  }
}
