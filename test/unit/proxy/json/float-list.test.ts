import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, it } from "mocha";
import { endOfFloats, FloatLists } from "#proxy/json/float-list";

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

describe("FloatLists", () => {
  /** As servers write numbers, and what some write where they have none. */
  const written = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => JSON.stringify(number)),
    fc.constantFrom(
      "1",
      "-0.5",
      "1e-05",
      "1E-5",
      "1E5",
      "2.5e+3",
      "1e+39",
      "-1E39",
      "NaN",
      "nan",
      "-Infinity",
      "inf",
      "null",
    ),
  );
  const list = fc.array(written, { minLength: 1, maxLength: 6 }).map((numbers) => `[${numbers.join(", ")}]`);
  const between = fc.constantFrom("", "null", '"NaN"', "E", "e+", '{"index":0}');

  it("judges each list of a body as it would be read number by number, whatever stands between them", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(list, between), { minLength: 1, maxLength: 8 }), (pieces) => {
        const bytes = Buffer.from(pieces.flat().join(""));
        const lists = new FloatLists(bytes);
        let start = 0;
        for (const [text, gap] of pieces) {
          assert.equal(lists.endOf(start), endOfFloats(bytes, start), `${text} at ${start}`);
          start += text.length + gap.length;
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it("knows no end of a list that has none", () => {
    assert.equal(new FloatLists(Buffer.from("[1,2")).endOf(0), -1);
  });
});
