import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, it } from "mocha";
import { Documents } from "#proxy/endpoints/rerank/documents";

function documentsOf(json: string): Documents {
  return new Documents(Buffer.from(json), 0);
}

describe("Documents", () => {
  it("finds each of a list as JSON reads it, however it is spaced", () => {
    const value = fc.oneof(fc.string(), fc.dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true }));
    fc.assert(
      fc.property(fc.array(value), fc.constantFrom(0, 1), (list, space) => {
        const documents = documentsOf(JSON.stringify(list, undefined, space));
        assert.equal(documents.length, list.length);
        assert.equal(documents.firstOther, undefined);
        assert.equal(
          documents.areTexts,
          list.every((item) => typeof item === "string"),
        );
        for (const [index, item] of list.entries()) {
          assert.equal(JSON.stringify(documents.at(index)), JSON.stringify(item));
        }
      }),
    );
  });

  for (const other of ["1", "null", "true", "[]"]) {
    it(`tells where ${other} stands, which is no document`, () => {
      assert.equal(documentsOf(`["a",{},${other},${other}]`).firstOther, 2);
    });
  }

  it("gives the text of an object, else its JSON", () => {
    assert.deepEqual(documentsOf('["a",{"text":"b"},{"text":1}]').texts(), ["a", "b", '{"text":1}']);
  });
});
