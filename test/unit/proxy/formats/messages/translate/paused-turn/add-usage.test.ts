import assert from "node:assert/strict";
import { addUsage } from "#proxy/formats/messages/translate/paused-turn/add-usage";

describe("addUsage()", () => {
  for (const row of [
    { name: "adds numbers", before: { input_tokens: 1 }, later: { input_tokens: 2 }, want: { input_tokens: 3 } },
    { name: "adds within objects", before: { a: { b: 1, c: 2 } }, later: { a: { b: 5 } }, want: { a: { b: 6, c: 2 } } },
    { name: "joins lists", before: { iterations: [1] }, later: { iterations: [2] }, want: { iterations: [1, 2] } },
    { name: "keeps what only one says", before: { a: 1 }, later: { b: 2 }, want: { a: 1, b: 2 } },
    { name: "takes null for nothing", before: { a: 1, b: null }, later: { a: null, b: 4 }, want: { a: 1, b: 4 } },
    { name: "takes the later text", before: { tier: "standard" }, later: { tier: "batch" }, want: { tier: "batch" } },
    { name: "takes the later of two kinds", before: { a: "x" }, later: { a: 1 }, want: { a: 1 } },
    { name: "begins with nothing", before: undefined, later: { a: 1 }, want: { a: 1 } },
  ]) {
    it(row.name, () => assert.deepEqual(addUsage(row.before, row.later), row.want));
  }

  it("sets a member named __proto__ as any other", () => {
    const sum = addUsage({}, JSON.parse('{"__proto__":{"polluted":1}}'));
    assert.equal(Object.hasOwn(sum, "__proto__"), true);
    assert.equal("polluted" in {}, false);
  });
});
