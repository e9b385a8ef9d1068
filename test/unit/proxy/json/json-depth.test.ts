import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { isTooDeep, levelsMax } from "#proxy/json/json-depth";
import { parseJsonText } from "#proxy/json/json-text";
import { parseJson } from "#proxy/json/json-value";

const lists = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);
const objects = (levels: number): string => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;

describe("isTooDeep", () => {
  for (const row of [
    { name: "takes lists as deep as the limit", text: lists(levelsMax), want: false },
    { name: "refuses lists one level deeper", text: lists(levelsMax + 1), want: true },
    { name: "takes objects as deep as the limit", text: objects(levelsMax), want: false },
    { name: "refuses objects one level deeper", text: objects(levelsMax + 1), want: true },
    {
      name: "counts levels and not brackets",
      text: `[${Array.from({ length: 1_000 }, () => "[]").join(",")}]`,
      want: false,
    },
    { name: "counts no bracket of a text", text: JSON.stringify("[".repeat(2_000)), want: false },
    { name: "counts no bracket behind an escaped quote", text: JSON.stringify(`\\"${"{".repeat(2_000)}`), want: false },
    { name: "counts on behind a text that ends in a backslash", text: `["\\\\",${lists(levelsMax)}]`, want: true },
    { name: "does not run over on a text without an end", text: `"${"[".repeat(2_000)}`, want: false },
  ]) {
    it(row.name, () => assert.equal(isTooDeep(row.text), row.want));
  }

  it("holds for every JSON that is parsed from an upstream or out of a text", () => {
    const deep = lists(100_000);
    assert.equal(parseJson(deep), undefined);
    assert.throws(() => parseJsonText(deep), SyntaxError);
  });
});
