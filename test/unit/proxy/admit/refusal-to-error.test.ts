import assert from "node:assert/strict";
import type { Refusal } from "#proxy/admit/ledger";
import { refusalToError } from "#proxy/admit/refusal-to-error";
import type { Limit } from "#proxy/snapshot/types.gen";

const nowMs = Date.UTC(2026, 0, 1);
const limit: Limit = {
  name: "burst",
  unit: "Tokens",
  limit: "200000",
  period: "Minute",
  algorithm: "TokenBucket",
  mode: "Enforce",
};

function refusal(partial: Partial<Refusal>): Refusal {
  return {
    kind: "refused",
    reason: "rate",
    counter: "key/ns/a/burst",
    limit,
    retryAtMs: nowMs + 2_001,
    states: [],
    ...partial,
  };
}

describe("refusalToError()", () => {
  for (const row of [
    {
      name: "names a rate limit, its size and the wait",
      refusal: refusal({}),
      code: "rate_limited",
      message: /`burst` of your API key \(200000 tokens a minute\)\. Try again in 3 s/,
      wait: 3,
    },
    {
      name: "says that a request larger than the bucket never fits",
      refusal: refusal({ retryAtMs: undefined }),
      code: "rate_limited",
      message: /larger than/,
      wait: 1,
    },
    {
      name: "names a quota in credits and when it resets, and sends no retry-after",
      refusal: refusal({
        reason: "quota",
        counter: "account/ns/a/quota",
        limit: { ...limit, name: "quota", unit: "Cost", limit: "2500000000", period: "Month" },
      }),
      code: "insufficient_quota",
      message: /^insufficient quota: the limit `quota` of your account \(2\.5 credits a month\).*2026-01-01T00:00:02/,
      wait: undefined,
    },
    {
      name: "names the last moment of the calendar where a quota resets after it",
      refusal: refusal({ reason: "quota", limit: { ...limit, unit: "Cost" }, retryAtMs: 2e16 }),
      code: "insufficient_quota",
      message: /available again at \+275760-09-13T00:00:00\.000Z/,
      wait: undefined,
    },
    {
      name: "names a balance that is used up",
      refusal: refusal({ reason: "balance", limit: undefined, retryAtMs: undefined }),
      code: "insufficient_quota",
      message: /^insufficient quota: the balance/,
      wait: undefined,
    },
    {
      name: "names too many requests in flight",
      refusal: refusal({ reason: "concurrency", limit: undefined, retryAtMs: nowMs + 1_000 }),
      code: "concurrency_limited",
      message: /in flight/,
      wait: 1,
    },
    {
      name: "says that quotas cannot be checked",
      refusal: refusal({ reason: "store-unavailable", retryAtMs: nowMs + 5_000 }),
      code: "quota_store_unavailable",
      message: /cannot be checked/,
      wait: 5,
    },
  ]) {
    it(row.name, () => {
      const error = refusalToError(row.refusal, nowMs);
      assert.equal(error.code, row.code);
      assert.match(error.message, row.message);
      assert.equal(error.retryAfterSeconds, row.wait);
    });
  }
});
