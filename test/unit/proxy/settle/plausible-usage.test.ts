import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { boundUsage } from "#proxy/settle/plausible-usage";
import { inputTokens, outputTokens, zeroUsage } from "#proxy/settle/usage";

describe("boundUsage()", () => {
  it("leaves what fits as it is", () => {
    const usage = { ...zeroUsage, input: 60, cacheRead: 40, output: 100, searches: 1_000 };
    assert.equal(boundUsage(usage, { contextWindow: 100, candidates: 1 }), usage);
  });

  for (const row of [
    {
      name: "cuts the input to the window, first classes first",
      usage: { input: 60, cacheRead: 60 },
      candidates: 1,
      want: { input: 60, cacheRead: 40 },
    },
    {
      name: "cuts the output to the window",
      usage: { output: 1e12, reasoning: 5 },
      candidates: 1,
      want: { output: 100, reasoning: 0 },
    },
    { name: "gives each candidate a window", usage: { output: 1e12 }, candidates: 3, want: { output: 300 } },
    {
      name: "bounds searches beside tokens that fit",
      usage: { input: 5, output: 1, searches: 1e12 },
      candidates: 1,
      want: { searches: 1_000 },
    },
  ]) {
    it(row.name, () => {
      const bounded = boundUsage({ ...zeroUsage, ...row.usage }, { contextWindow: 100, candidates: row.candidates });
      assert.deepEqual(bounded, { ...zeroUsage, ...row.usage, ...row.want });
    });
  }

  it("gives each request of a turn a window", () => {
    const usage = { ...zeroUsage, input: 1e12, output: 1e12 };
    const bounded = boundUsage(usage, { contextWindow: 100, candidates: 1, requests: 3 });
    assert.deepEqual([bounded.input, bounded.output], [300, 300]);
  });

  it("bounds even where no window is known", () => {
    const bounded = boundUsage(
      { ...zeroUsage, input: 1e12, output: 1e12 },
      { contextWindow: undefined, candidates: 1 },
    );
    assert.ok(inputTokens(bounded) < 2 ** 25 && outputTokens(bounded) < 2 ** 25);
  });
});
