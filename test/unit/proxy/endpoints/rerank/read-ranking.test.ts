import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, it } from "mocha";
import { readRanking } from "#proxy/endpoints/rerank/read-ranking";
import { InvalidReply } from "#proxy/neutral/reply";

const scored = [{ index: 0, relevance_score: 0.5 }];

describe("readRanking()", () => {
  for (const row of [
    { name: "Cohere's fractions", json: { results: scored, meta: { tokens: { input_tokens: 12.0 } } }, want: [12, 1] },
    {
      name: "tokens that Cohere bills",
      json: { results: scored, meta: { billed_units: { input_tokens: 7 } } },
      want: [7, 1],
    },
    {
      name: "searches that Cohere bills",
      json: { results: scored, meta: { billed_units: { search_units: 3 } } },
      want: [0, 3],
    },
    {
      name: "no searches below one",
      json: { results: scored, meta: { billed_units: { search_units: -1 } } },
      want: [0, 1],
    },
    { name: "Jina's total", json: { results: scored, usage: { total_tokens: 9, prompt_tokens: 4 } }, want: [9, 1] },
    { name: "a prompt alone", json: { results: scored, usage: { prompt_tokens: 4 } }, want: [4, 1] },
    {
      name: "tokens that are no number as none",
      json: { results: scored, usage: { total_tokens: "many" } },
      want: [0, 1],
    },
  ]) {
    it(`reads ${row.name}`, () => {
      const { usage } = readRanking(row.json, 1) ?? assert.fail("it is none");
      assert.deepEqual([usage.input, usage.searches], row.want);
    });
  }

  for (const [documents, searches] of [
    [1, 1],
    [100, 1],
    [101, 2],
    [10_000, 100],
  ] as const) {
    it(`counts ${searches} searches for ${documents} documents`, () => {
      assert.equal(readRanking(scored, documents)?.usage.searches, searches);
    });
  }

  it("sorts any order of any scores, and keeps the order of those that are alike", () => {
    const ranking = fc.array(fc.integer({ min: -3, max: 3 }), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(ranking, fc.constantFrom("results", "data", "list"), (scores, form) => {
        const items = scores.map((score, index) => ({ index, relevance_score: score / 2 }));
        const read = readRanking(form === "list" ? items : { [form]: items }, scores.length);
        const want = [...items].sort((left, right) => right.relevance_score - left.relevance_score);
        assert.deepEqual(
          read?.results.map(({ index }) => index),
          want.map(({ index }) => index),
        );
        assert.equal(read?.wasSorted, JSON.stringify(want) === JSON.stringify(items));
      }),
    );
  });

  it("reads nothing of anything, and never crashes", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(3), (json, documents) => {
        try {
          const read = readRanking(json, documents);
          assert.ok(read === undefined || read.results.length > 0);
        } catch (error) {
          assert.ok(error instanceof InvalidReply, String(error));
        }
      }),
    );
  });
});
