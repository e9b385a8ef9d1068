import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, it } from "mocha";
import { endOfFloats } from "#proxy/json/float-list";

describe("endOfFloats()", () => {
  const rows: readonly { text: string; isList: boolean }[] = [
    ...["[0]", "[-0]", "[1,2]", " [ 1 ,\n-2.5 ]".trimStart(), "[1e5,1E-5,-1.5e+05]", "[3.4028234e38]"].map((text) => ({
      text,
      isList: true,
    })),
    { text: "[1e-999]", isList: true },
    ...["[]", "[ ]", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "[01]", "[-]", "[1.]", "[.5]", "[1e]", "[+1]"].map(
      (text) => ({
        text,
        isList: false,
      }),
    ),
    ...["[NaN]", "[1,NaN]", "[Infinity]", "[-Infinity]", "[1,null]", '["1"]', "[[1]]", "[true]", "{}", "7", ""].map(
      (text) => ({ text, isList: false }),
    ),
    ...["[1e39]", "[-3.5e38]", `[1${"0".repeat(39)}]`, `[0.${"9".repeat(50)}e40]`].map((text) => ({
      text,
      isList: false,
    })),
  ];
  for (const { text, isList } of rows) {
    it(`${isList ? "passes over" : "refuses"} ${text.slice(0, 40)}`, () => {
      assert.equal(endOfFloats(Buffer.from(`x${text}`), 1), isList ? text.length + 1 : -1);
    });
  }

  it("passes over what JSON.stringify() writes of numbers that a 32-bit float holds, and over nothing behind it", () => {
    const numbers = fc.array(fc.float({ noNaN: true, noDefaultInfinity: true }), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(numbers, fc.constantFrom(undefined, 1), fc.string(), (list, space, rest) => {
        const text = JSON.stringify(list, null, space);
        assert.equal(endOfFloats(Buffer.from(text + rest), 0), text.length);
      }),
    );
  });

  it("passes over nothing that is no JSON", () => {
    const pieces = fc.constantFrom("[", "]", ",", "1", "0", "-", ".", "e", "E", "+", " ", "\n");
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 12 }), (chosen) => {
        const text = `[${chosen.join("")}`;
        const end = endOfFloats(Buffer.from(text), 0);
        if (end >= 0) assert.ok(Array.isArray(JSON.parse(text.slice(0, end))));
      }),
      { numRuns: 2_000 },
    );
  });
});
