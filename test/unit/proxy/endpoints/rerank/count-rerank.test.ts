import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { estimateRerank } from "#proxy/endpoints/rerank/count-rerank";
import { readRerank } from "#proxy/endpoints/rerank/read-rerank";
import { defaultLimits } from "#proxy/limits";
import { emptySnapshot } from "#proxy/snapshot/build-index";

const path = { protocol: "OpenAI", format: "Rerank", capability: "Rerank", shape: "Jina" } as const;
/** A nano-credit a token, and a thousandth of a credit a search. */
const price = { input: "1000", search: "1000" } as const;

/** Input tokens and searches that are reserved. */
function needOf(query: unknown, documents: readonly unknown[]): readonly [input: number, searches: number] {
  const call = readRerank(Buffer.from(JSON.stringify({ model: "m", query, documents })), path, defaultLimits);
  const { inputTokens, costNanos } = estimateRerank(call, emptySnapshot, { price }).amounts;
  const searchNanos = costNanos - inputTokens;
  return [Number(inputTokens), Number(searchNanos / 1_000_000n)];
}

describe("estimateRerank()", () => {
  it("reserves the query again for each document", () => {
    const [one] = needOf("q".repeat(300), ["a"]);
    const [three] = needOf("q".repeat(300), ["a", "a", "a"]);
    assert.ok(three - one >= 200 && three - one <= 204, `${one} and ${three} tokens`);
  });

  it("reserves a search for each 100 documents, and more where they are long", () => {
    assert.equal(needOf("q", Array(90).fill("a"))[1], 1);
    assert.equal(needOf("q", Array(101).fill("a"))[1], 2);
    assert.equal(needOf("q", Array(100).fill("a".repeat(3_000)))[1], 6);
  });

  for (const { name, query } of [
    { name: "a query that is an object with a text", query: { text: "q".repeat(300) } },
    { name: "a query that is an object without one, which is sent as JSON", query: { title: "q".repeat(300) } },
  ]) {
    it(`reserves ${name} again for each document`, () => {
      const [one] = needOf(query, ["a"]);
      const [three] = needOf(query, ["a", "a", "a"]);
      assert.ok(three - one >= 200 && three - one <= 215, `${one} and ${three} tokens`);
    });
  }

  it("reserves no image for a null", () => {
    const without = needOf({ text: "q" }, [{ text: "a" }, { text: "a" }]);
    assert.deepEqual(needOf({ text: "q", image: null }, [{ text: "a", image: null }, { text: "a" }]), without);
  });

  it("reserves images as images, whatever they hold, and that of the query with each document", () => {
    const image = `data:image/png;base64,${"A".repeat(100_000)}`;
    const [documents] = needOf("q", [{ image }, { text: "a" }, { deep: { image: "no" } }]);
    assert.ok(documents >= 1_600 && documents <= 1_700, `${documents} tokens`);
    const [query] = needOf({ image }, [{ image }, { text: "a" }, { deep: { image: "no" } }]);
    assert.ok(query >= 4 * 1_600 && query <= 4 * 1_600 + 100, `${query} tokens`);
  });
});
