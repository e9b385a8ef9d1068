import assert from "node:assert/strict";
import fc from "fast-check";
import { authorizeAddress, isAddressAllowed } from "#proxy/authorize/authorize-address";
import { cidrsContain, compileCidrs } from "#proxy/http/address/cidr";
import { parseIpAddress } from "#proxy/http/address/ip-address";
import type { Key } from "#proxy/snapshot/types.gen";
import { wireKey } from "#test/support/wire-objects";

describe("isAddressAllowed", () => {
  const rows: { name: string; rules: Partial<Key>; address: string | undefined; want: boolean }[] = [
    { name: "opens a key without rules", rules: {}, address: "1.1.1.1", want: true },
    { name: "opens a key without rules when no address is known", rules: {}, address: undefined, want: true },
    { name: "opens inside the allow list", rules: { cidrsAllow: ["10.0.0.0/8"] }, address: "10.1.1.1", want: true },
    { name: "opens for mapped IPv4", rules: { cidrsAllow: ["10.0.0.0/8"] }, address: "::ffff:10.1.1.1", want: true },
    { name: "refuses outside the allow list", rules: { cidrsAllow: ["10.0.0.0/8"] }, address: "11.1.1.1", want: false },
    {
      name: "refuses without a known address",
      rules: { cidrsAllow: ["0.0.0.0/0", "::/0"] },
      address: undefined,
      want: false,
    },
    { name: "refuses everybody for an empty allow list", rules: { cidrsAllow: [] }, address: "1.1.1.1", want: false },
    { name: "opens outside the deny list", rules: { cidrsDeny: ["10.0.0.0/8"] }, address: "11.1.1.1", want: true },
    { name: "refuses inside the deny list", rules: { cidrsDeny: ["10.0.0.0/8"] }, address: "10.1.1.1", want: false },
    {
      name: "refuses an unknown address for a deny list",
      rules: { cidrsDeny: ["10.0.0.0/8"] },
      address: undefined,
      want: false,
    },
    { name: "ignores an empty deny list", rules: { cidrsDeny: [] }, address: undefined, want: true },
    {
      name: "puts deny over a narrower allow",
      rules: { cidrsAllow: ["10.0.0.1/32"], cidrsDeny: ["10.0.0.0/8"] },
      address: "10.0.0.1",
      want: false,
    },
    {
      name: "opens what is allowed and not denied",
      rules: { cidrsAllow: ["10.0.0.0/8"], cidrsDeny: ["10.0.0.0/24"] },
      address: "10.0.1.1",
      want: true,
    },
  ];
  for (const { name, rules, address, want } of rows) {
    it(name, () => {
      const parsed = address === undefined ? undefined : parseIpAddress(address);
      assert.equal(isAddressAllowed(wireKey("k", rules), parsed), want);
      if (want) authorizeAddress(wireKey("k", rules), parsed);
      else assert.throws(() => authorizeAddress(wireKey("k", rules), parsed), { code: "ip_not_allowed" });
    });
  }

  it("opens exactly what some allow holds and no deny, over random overlapping lists", () => {
    const cidr = fc
      .tuple(fc.nat(3), fc.nat(3), fc.constantFrom(0, 7, 8, 15, 16, 24, 32))
      .map(([a, b, bits]) => `${a}.${b}.0.0/${bits}`);
    const list = fc.array(cidr, { maxLength: 4 });
    fc.assert(
      fc.property(list, list, fc.nat(3), fc.nat(3), (cidrsAllow, cidrsDeny, a, b) => {
        const address = parseIpAddress(`${a}.${b}.0.0`);
        assert.ok(address);
        const holds = (cidrs: string[]): boolean => cidrs.some((one) => cidrsContain(compileCidrs([one]), address));
        const want = holds(cidrsAllow) && !holds(cidrsDeny);
        assert.equal(isAddressAllowed(wireKey("k", { cidrsAllow, cidrsDeny }), address), want);
      }),
      { numRuns: 5_000 },
    );
  });
});
