import assert from "node:assert/strict";
import { mutateJson, Vocabulary } from "#test/support/fuzz/mutate-json";
import { Random } from "#test/support/fuzz/random";

const documents = [
  { model: "a", messages: [{ role: "user", content: "words" }], tools: [{ type: "function", parameters: { a: [1] } }] },
  { model: "b", messages: [{ role: "user", content: [{ type: "text", text: "more" }] }], metadata: { a: { b: 1 } } },
];

describe("mutateJson()", () => {
  it("leaves the documents that it takes from as they were, so that each case can be repeated alone", () => {
    const before = JSON.stringify(documents);
    const vocabulary = new Vocabulary(documents);
    for (let index = 0; index < 2_000; index += 1) {
      const random = Random.ofCase(1, index);
      mutateJson(random.pick(documents), random, vocabulary);
    }
    assert.equal(JSON.stringify(documents), before);
  });

  it("makes the same text of the same case, and none that is too long to be written", () => {
    const vocabulary = new Vocabulary(documents);
    const textOf = (index: number): string => {
      const random = Random.ofCase(2, index);
      return mutateJson(random.pick(documents), random, vocabulary);
    };
    const texts = Array.from({ length: 500 }, (_, index) => textOf(index));
    assert.ok(new Set(texts).size > 250);
    for (const [index, text] of texts.entries()) {
      assert.equal(textOf(index), text);
      assert.ok(text.length < 50_000_000);
    }
  });
});
