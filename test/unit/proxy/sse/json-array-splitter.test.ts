import assert from "node:assert/strict";
import fc from "fast-check";
import { JsonArraySplitter } from "#proxy/sse/json-array-splitter";

describe("JsonArraySplitter", () => {
  it("returns an element as soon as it is complete", () => {
    const splitter = new JsonArraySplitter(1_024);
    assert.deepEqual(splitter.push(Buffer.from('[{"a":1}')).map(String), ['{"a":1}']);
    assert.equal(splitter.isClosed, false);
    assert.deepEqual(splitter.push(Buffer.from("\n]")), []);
    assert.equal(splitter.isClosed, true);
  });

  it("returns a bare object as one element, and is closed with it", () => {
    const splitter = new JsonArraySplitter(1_024);
    assert.deepEqual(splitter.push(Buffer.from(' {"error":[{')), []);
    assert.equal(splitter.isClosed, false);
    assert.deepEqual(splitter.push(Buffer.from("}]} ")).map(String), ['{"error":[{}]}']);
    assert.equal(splitter.isClosed, true);
  });

  it("says when an element exceeds the cap", () => {
    const splitter = new JsonArraySplitter(4);
    splitter.push(Buffer.from('[{"aaaaa'));
    assert.equal(splitter.isOverflowing, true);
  });

  it("finds the same elements however the bytes are cut", () => {
    fc.assert(
      fc.property(
        fc.array(fc.dictionary(fc.string(), fc.jsonValue())),
        fc.integer({ min: 1, max: 9 }),
        (values, size) => {
          const bytes = Buffer.from(JSON.stringify(values, null, 1));
          const splitter = new JsonArraySplitter(1_000_000);
          const found: unknown[] = [];
          for (let position = 0; position < bytes.length; position += size) {
            for (const element of splitter.push(Buffer.from(bytes.subarray(position, position + size)))) {
              found.push(JSON.parse(element.toString()));
            }
          }
          assert.deepEqual(found, JSON.parse(JSON.stringify(values)));
          assert.equal(splitter.isClosed, true);
        },
      ),
    );
  });
});
