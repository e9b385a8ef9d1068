import assert from "node:assert/strict";
import fc from "fast-check";
import { compareQuantities, parseQuantity } from "#operator/schema/cel/quantity";

describe("compareQuantities()", () => {
  for (const { left, right, want } of [
    { left: "1", right: "1.000", want: 0 },
    { left: "1k", right: "1000", want: 0 },
    { left: "1.5M", right: "1500k", want: 0 },
    { left: "9G", right: "9000000000", want: 0 },
    { left: "9000000000.000001", right: "9G", want: 1 },
    { left: "8999999999.999999", right: "9G", want: -1 },
    { left: "-0.5", right: "0", want: -1 },
    { left: "-2", right: "-1", want: -1 },
    { left: "0", right: "-0", want: 0 },
    { left: "999999999999999G", right: "999999999999998G", want: 1 },
  ] as const) {
    it(`says ${want} of ${left} and ${right}`, () => {
      assert.equal(compareQuantities(parseQuantity(left), parseQuantity(right)), want);
    });
  }

  it("orders as whole numbers do", () => {
    const amount = fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n });
    const property = fc.property(amount, amount, (left, right) => {
      const want = left === right ? 0 : left < right ? -1 : 1;
      assert.equal(compareQuantities(parseQuantity(`${left}`), parseQuantity(`${right}`)), want);
    });
    fc.assert(property);
  });
});

describe("parseQuantity()", () => {
  for (const text of ["", "k", "1.", ".5", "1e6", "1Ki", "1 000", "+1", "0x10", "1m", "１"]) {
    it(`refuses "${text}"`, () => assert.throws(() => parseQuantity(text), RangeError));
  }
});
