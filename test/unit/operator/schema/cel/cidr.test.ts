import assert from "node:assert/strict";
import fc from "fast-check";
import { isCidr } from "#operator/schema/cel/cidr";

describe("isCidr()", () => {
  for (const { text, want } of [
    { text: "10.0.0.0/8", want: true },
    { text: "10.1.2.3/8", want: true },
    { text: "0.0.0.0/0", want: true },
    { text: "192.0.2.1/32", want: true },
    { text: "192.0.2.1/33", want: false },
    { text: "192.0.2.1", want: false },
    { text: "192.0.2.1/", want: false },
    { text: "192.0.2.1/08", want: false },
    { text: "192.0.2.1/+8", want: false },
    { text: "192.0.2.1/-1", want: false },
    { text: "192.0.2.01/24", want: false },
    { text: "192.0.2/24", want: false },
    { text: " 192.0.2.1/24", want: false },
    { text: "0xc0.0.2.1/24", want: false },
    { text: "2001:db8::/32", want: true },
    { text: "::/0", want: true },
    { text: "::1/128", want: true },
    { text: "::1/129", want: false },
    { text: "2001:DB8::1/64", want: true },
    { text: "2001:db8:::/32", want: false },
    { text: "fe80::1%eth0/64", want: false },
    { text: "::ffff:10.0.0.0/104", want: false },
    { text: "::FFFF:a00:0/104", want: false },
    { text: "0:0:0:0:0:ffff:10.0.0.0/104", want: false },
    { text: "::ffff:0:0/96", want: false },
    { text: "::10.0.0.0/104", want: true },
    { text: "64:ff9b::10.0.0.0/104", want: true },
    { text: "ffff::/16", want: true },
    { text: "::fffe:0:0/96", want: true },
    { text: "", want: false },
    { text: "/", want: false },
  ]) {
    it(`${want ? "accepts" : "refuses"} "${text}"`, () => assert.equal(isCidr(text), want));
  }

  it("accepts every address with every fitting length and no longer one", () => {
    const property = fc.property(fc.ipV4(), fc.integer({ min: -2, max: 40 }), (address, length) => {
      assert.equal(isCidr(`${address}/${length}`), length >= 0 && length <= 32);
    });
    fc.assert(property);
  });
});
