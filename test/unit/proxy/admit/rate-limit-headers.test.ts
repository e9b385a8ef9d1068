import assert from "node:assert/strict";
import type { LimitState } from "#proxy/admit/ledger";
import { rateLimitHeaders as headerList } from "#proxy/admit/rate-limit-headers";
import type { Limit } from "#proxy/snapshot/types.gen";

const nowMs = Date.UTC(2026, 0, 1);

function state(
  unit: Limit["unit"],
  remaining: bigint,
  resetInMs: number | undefined,
  partial: Partial<Limit> = {},
): LimitState {
  const limit: Limit = {
    name: "l",
    unit,
    limit: "100",
    period: "Minute",
    algorithm: "FixedWindow",
    mode: "Enforce",
    ...partial,
  };
  return {
    counter: "key/ns/a/l",
    limit,
    remaining,
    resetAtMs: resetInMs === undefined ? undefined : nowMs + resetInMs,
  };
}

function rateLimitHeaders(...given: Parameters<typeof headerList>): Record<string, string> {
  const list = headerList(...given);
  const pairs = list.flatMap((name, index) => (index % 2 === 0 ? [[name, list[index + 1] ?? ""] as const] : []));
  return Object.fromEntries(pairs);
}

describe("rateLimitHeaders()", () => {
  it("speaks OpenAI's dialect", () => {
    assert.deepEqual(rateLimitHeaders([state("Requests", 9n, 6), state("Tokens", 0n, 90_000)], "OpenAI", nowMs), {
      "x-ratelimit-limit-requests": "100",
      "x-ratelimit-remaining-requests": "9",
      "x-ratelimit-reset-requests": "6ms",
      "x-ratelimit-limit-tokens": "100",
      "x-ratelimit-remaining-tokens": "0",
      "x-ratelimit-reset-tokens": "1m30s",
    });
  });

  it("speaks Anthropic's dialect, with input and output apart", () => {
    assert.deepEqual(
      rateLimitHeaders([state("InputTokens", 9n, 1_500), state("OutputTokens", 1n, undefined)], "Anthropic", nowMs),
      {
        "anthropic-ratelimit-input-tokens-limit": "100",
        "anthropic-ratelimit-input-tokens-remaining": "9",
        "anthropic-ratelimit-input-tokens-reset": "2026-01-01T00:00:01Z",
        "anthropic-ratelimit-output-tokens-limit": "100",
        "anthropic-ratelimit-output-tokens-remaining": "1",
      },
    );
  });

  it("names the last moment of the calendar where a bucket is full after it", () => {
    const slow = state("Tokens", 1n, 2e16, { period: "Hour", algorithm: "TokenBucket", limit: "1" });
    const headers = rateLimitHeaders([slow], "Anthropic", nowMs);
    assert.equal(headers["anthropic-ratelimit-tokens-reset"], "+275760-09-13T00:00:00Z");
    assert.equal(rateLimitHeaders([slow], "OpenAI", nowMs)["x-ratelimit-reset-tokens"], "5555555555h33m20s");
  });

  it("sends Gemini-style clients none", () => {
    assert.deepEqual(rateLimitHeaders([state("Requests", 9n, 6)], "Gemini", nowMs), {});
  });

  it("shows the tightest of several limits", () => {
    const states = [state("Requests", 9n, 6), state("Requests", 3n, 7_200_000, { limit: "50" })];
    const headers = rateLimitHeaders(states, "OpenAI", nowMs);
    assert.equal(headers["x-ratelimit-remaining-requests"], "3");
    assert.equal(headers["x-ratelimit-limit-requests"], "50");
    assert.equal(headers["x-ratelimit-reset-requests"], "2h0m0s");
  });

  it("shows neither shadow limits nor credits", () => {
    assert.deepEqual(
      rateLimitHeaders([state("Requests", 0n, 6, { mode: "Shadow" }), state("Cost", 0n, 6)], "OpenAI", nowMs),
      {},
    );
  });

  for (const row of [
    { resetInMs: -5, want: "0s" },
    { resetInMs: 999, want: "999ms" },
    { resetInMs: 1_000, want: "1s" },
    { resetInMs: 1_001, want: "2s" },
    { resetInMs: 60_000, want: "1m0s" },
    { resetInMs: 86_400_000, want: "24h0m0s" },
  ]) {
    it(`writes ${row.resetInMs} ms as ${row.want}`, () => {
      const headers = rateLimitHeaders([state("Requests", 1n, row.resetInMs)], "OpenAI", nowMs);
      assert.equal(headers["x-ratelimit-reset-requests"], row.want);
    });
  }
});
