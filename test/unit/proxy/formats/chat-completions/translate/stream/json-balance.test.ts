import assert from "node:assert/strict";
import fc from "fast-check";
import { JsonBalance } from "#proxy/formats/chat-completions/translate/stream/json-balance";

function isClosed(...pieces: string[]): boolean {
  const balance = new JsonBalance();
  for (const piece of pieces) balance.add(piece);
  return balance.isClosed;
}

describe("JsonBalance", () => {
  for (const row of [
    { pieces: ["{}"], want: true },
    { pieces: ["{", "}"], want: true },
    { pieces: ["[{}", "]"], want: true },
    { pieces: [""], want: false },
    { pieces: ["1"], want: false },
    { pieces: ['{"a":"}', '"'], want: false },
    { pieces: ['{"a":"\\', '"}"}'], want: true },
    { pieces: ['{"a":"\\\\', '"}'], want: true },
  ]) {
    it(`says ${row.want} of ${JSON.stringify(row.pieces)}`, () => assert.equal(isClosed(...row.pieces), row.want));
  }

  it("says so of any object exactly at its end, however it is cut", () => {
    const object = fc.dictionary(fc.string(), fc.jsonValue());
    fc.assert(
      fc.property(object, fc.nat(), (value, seed) => {
        const text = JSON.stringify(value);
        const cut = seed % text.length;
        assert.equal(isClosed(text.slice(0, cut)), false);
        assert.equal(isClosed(text.slice(0, cut), text.slice(cut)), true);
      }),
    );
  });
});
