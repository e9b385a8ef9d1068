import assert from "node:assert/strict";
import fc from "fast-check";
import { oneLineJson } from "#proxy/formats/chat-completions/translate/stream/one-line-json";

describe("oneLineJson()", () => {
  it("is JSON of the same value without any end of a line, whatever counts as one", () => {
    const characters = fc.constantFrom(
      "a",
      "\n",
      "\r",
      "\u0085",
      "\u2028",
      "\u2029",
      "\u000b",
      "\u000c",
      "\ud83d",
      "\\",
      '"',
    );
    fc.assert(
      fc.property(fc.string({ unit: characters }), (text) => {
        const json = oneLineJson({ text });
        assert.deepEqual(JSON.parse(json), { text });
        assert.doesNotMatch(json, /[\n\r\u000b\u000c\u001c-\u001e\u0085\u2028\u2029]/);
      }),
    );
  });
});
