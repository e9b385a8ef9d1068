import assert from "node:assert/strict";
import fc from "fast-check";
import { cidrsContain, compileCidrs, isCidr } from "#proxy/http/address/cidr";
import { parseIpAddress } from "#proxy/http/address/ip-address";
import { isCIDR } from "#proxy/snapshot/validate";

function contains(cidrs: string[], address: string): boolean {
  const parsed = parseIpAddress(address);
  assert.ok(parsed, `${address} is no address`);
  return cidrsContain(compileCidrs(cidrs), parsed);
}

/** The bits of an address as text, written from the definition: slow and plain. */
function bitsOfIpv4(octets: readonly number[]): string {
  return octets.map((octet) => octet.toString(2).padStart(8, "0")).join("");
}
function bitsOfIpv6(groups: readonly number[]): string {
  return groups.map((group) => group.toString(2).padStart(16, "0")).join("");
}

describe("cidrsContain", () => {
  const rows: [cidrs: string[], address: string, want: boolean][] = [
    [["0.0.0.0/0"], "255.255.255.255", true],
    [["0.0.0.0/0"], "::1", false],
    [["::/0"], "2001:db8::1", true],
    [["::/0"], "10.0.0.1", false],
    [["10.0.0.1/32"], "10.0.0.1", true],
    [["10.0.0.1/32"], "10.0.0.2", false],
    [["10.0.0.0/8"], "10.255.255.255", true],
    [["10.0.0.0/8"], "11.0.0.0", false],
    [["10.1.2.3/8"], "10.9.9.9", true],
    [["128.0.0.0/1"], "127.255.255.255", false],
    [["128.0.0.0/1"], "200.0.0.1", true],
    [["10.0.0.0/8"], "::ffff:10.2.3.4", true],
    [["10.0.0.0/8"], "::ffff:a02:304", true],
    [["::ffff:10.0.0.0/104"], "10.2.3.4", true],
    [["::ffff:10.0.0.0/104"], "11.2.3.4", false],
    [["2001:db8::/32"], "2001:db8:ffff::", true],
    [["2001:db8::/32"], "2001:db9::", false],
    [["2001:db8::1/128"], "2001:DB8:0:0:0:0:0:1", true],
    [["2001:db8::1/128"], "2001:db8::2", false],
    [["fe80::/10", "192.168.0.0/16"], "192.168.7.7", true],
    [[], "10.0.0.1", false],
  ];
  for (const [cidrs, address, want] of rows) {
    it(`${want ? "finds" : "does not find"} ${address} in [${cidrs.join(", ")}]`, () => {
      assert.equal(contains(cidrs, address), want);
    });
  }

  it("agrees with a comparison bit by bit on 50,000 random pairs of IPv4", () => {
    const octets = fc.array(fc.oneof(fc.constantFrom(0, 10, 127, 128, 255), fc.nat(255)), {
      minLength: 4,
      maxLength: 4,
    });
    fc.assert(
      fc.property(octets, octets, fc.nat(32), fc.nat(4), (network, other, prefix, shared) => {
        // Sharing some octets makes pairs that differ late.
        const address = [...network.slice(0, shared), ...other.slice(shared)];
        const want = bitsOfIpv4(network).slice(0, prefix) === bitsOfIpv4(address).slice(0, prefix);
        assert.equal(contains([`${network.join(".")}/${prefix}`], address.join(".")), want);
        assert.equal(contains([`${network.join(".")}/${prefix}`], `::ffff:${address.join(".")}`), want);
      }),
      { numRuns: 50_000 },
    );
  });

  it("agrees with a comparison bit by bit on 50,000 random pairs of IPv6", () => {
    const groups = fc.array(fc.oneof(fc.constantFrom(0, 1, 0xffff), fc.nat(0xffff)), { minLength: 8, maxLength: 8 });
    const text = (parts: readonly number[]): string => parts.map((part) => part.toString(16)).join(":");
    const isMapped = (parts: readonly number[]): boolean =>
      bitsOfIpv6(parts).startsWith(`${"0".repeat(80)}${"1".repeat(16)}`);
    fc.assert(
      fc.property(groups, groups, fc.nat(128), fc.nat(8), (network, other, prefix, shared) => {
        const address = [...network.slice(0, shared), ...other.slice(shared)];
        fc.pre(!isMapped(network) && !isMapped(address));
        const want = bitsOfIpv6(network).slice(0, prefix) === bitsOfIpv6(address).slice(0, prefix);
        assert.equal(contains([`${text(network)}/${prefix}`], text(address)), want);
      }),
      { numRuns: 50_000 },
    );
  });
});

describe("isCidr", () => {
  const refused = [
    "",
    "10.0.0.0",
    "10.0.0.0/",
    "/8",
    "10.0.0.0/33",
    "10.0.0.0/08",
    "10.0.0.0/-1",
    "10.0.0.0/8 ",
    "10.0.0/8",
  ];
  for (const text of [
    ...refused,
    "010.0.0.0/8",
    "::/129",
    "::1%eth0/64",
    "[::]/0",
    "10.0.0.0/8/8",
    "a/8",
    "0x0a.0.0.0/8",
  ]) {
    it(`refuses ${JSON.stringify(text)}`, () => {
      assert.equal(isCidr(text), false);
      assert.throws(() => compileCidrs([text]), RangeError);
    });
  }

  it("takes whatever the snapshot's validator takes, so that no restriction fails at request time", () => {
    const piece = fc.constantFrom(
      "10",
      "255",
      "256",
      "0",
      "ffff",
      "2001",
      "db8",
      ".",
      ":",
      "::",
      "/",
      "%",
      "32",
      "128",
    );
    const text = fc.oneof(
      fc.array(piece, { maxLength: 9 }).map((pieces) => pieces.join("")),
      fc.ipV6(),
      fc.ipV4(),
    );
    fc.assert(
      fc.property(text, fc.nat(130), (address, prefix) => {
        for (const cidr of [address, `${address}/${prefix}`]) if (isCIDR(cidr)) assert.equal(isCidr(cidr), true, cidr);
      }),
      { numRuns: 10_000 },
    );
  });
});
