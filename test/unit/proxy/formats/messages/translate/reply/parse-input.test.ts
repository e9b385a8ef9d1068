import assert from "node:assert/strict";
import fc from "fast-check";
import { parseInput } from "#proxy/formats/messages/translate/reply/parse-input";

describe("parseInput()", () => {
  for (const row of [
    { name: "reads an object", text: '{"a":1}', want: { a: 1 } },
    { name: "pitfall 28: reads nothing as an empty object", text: "", want: {} },
    { name: "keeps as much of a cut text as there is", text: '{"a":"Par', want: { a: "Par" } },
    { name: "leaves out a name without a value", text: '{"a":1,"b', want: { a: 1 } },
    { name: "leaves out half a value", text: '{"a":[1,{"b":tr', want: { a: [1, {}] } },
    { name: "reads brackets and commas in texts as text", text: '{"a":"},{[","b":"x\\"', want: { a: "},{[", b: 'x"' } },
    { name: "keeps what is no object as text", text: "[1]", want: { _raw: "[1]" } },
    { name: "keeps nonsense as text", text: "nonsense", want: { _raw: "nonsense" } },
  ]) {
    it(row.name, () => assert.deepEqual(parseInput(row.text), row.want));
  }

  it("gives an object for every beginning of an object", () => {
    fc.assert(
      fc.property(fc.object({ maxDepth: 4 }), fc.nat(), (value, cut) => {
        const text = JSON.stringify(value);
        const input = parseInput(text.slice(0, Math.max(1, cut % text.length)));
        assert.equal(Object.hasOwn(input, "_raw"), false);
      }),
    );
  });
});
