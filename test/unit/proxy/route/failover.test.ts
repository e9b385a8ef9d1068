import assert from "node:assert/strict";
import fc from "fast-check";
import type { UpstreamError } from "#proxy/formats/format";
import { type FailoverCondition, failedByError, mayFailOver } from "#proxy/route/failover";
import { wireRoute } from "#test/support/wire-objects";

const conditions: readonly FailoverCondition[] = [
  "ConnectFailure",
  "Timeout",
  "RateLimited",
  "ServerError",
  "CredentialRejected",
  "PaymentRequired",
  "ModelNotFound",
  "ContextTooLong",
];

function routeOn(
  on: readonly FailoverCondition[],
  failover: { maxAttempts?: number; withinFirstMs?: number; statuses?: number[] } = {},
) {
  return wireRoute("m", { failover: { maxAttempts: 3, withinFirstMs: 30_000, ...failover, on: [...on] } });
}

describe("failedByError()", () => {
  const expected: Readonly<Record<UpstreamError["kind"], FailoverCondition | undefined>> = {
    bad_request: undefined,
    context_length: "ContextTooLong",
    policy: undefined,
    capability: undefined,
    channel_auth: "CredentialRejected",
    channel_quota: "PaymentRequired",
    channel_config: "ModelNotFound",
    timeout: "Timeout",
    conflict: undefined,
    too_large: undefined,
    rate_limit: "RateLimited",
    upstream_5xx: "ServerError",
    overloaded: "ServerError",
  };
  for (const [kind, condition] of Object.entries(expected)) {
    it(`takes ${kind} for ${condition ?? "nothing that another target would do differently"}`, () => {
      const error = { kind, status: 418, message: "", param: undefined, retryAfterMs: undefined };
      assert.ok(isUpstreamError(error));
      assert.deepEqual(failedByError(error), { condition, status: 418 });
    });
  }

  function isUpstreamError(error: { readonly kind: string }): error is UpstreamError {
    return error.kind in expected;
  }
});

describe("mayFailOver()", () => {
  for (const condition of conditions) {
    it(`follows ${condition} only where the route names it`, () => {
      const failed = { condition, status: undefined };
      assert.equal(mayFailOver(routeOn([condition]), failed, 1, 0), true);
      assert.equal(mayFailOver(routeOn(conditions.filter((other) => other !== condition)), failed, 1, 0), false);
    });
  }

  const failed = { condition: "ServerError", status: 503 } as const;
  const unlisted = { condition: undefined, status: 422 };
  const usual = routeOn(["ServerError"]);
  for (const row of [
    { name: "tries again below its count", route: usual, failed, attempts: 2, elapsedMs: 0, want: true },
    { name: "stops at its count", route: usual, failed, attempts: 3, elapsedMs: 0, want: false },
    {
      name: "never tries again with one attempt",
      route: routeOn(["ServerError"], { maxAttempts: 1 }),
      failed,
      attempts: 1,
      elapsedMs: 0,
      want: false,
    },
    {
      name: "tries again up to the last millisecond",
      route: usual,
      failed,
      attempts: 1,
      elapsedMs: 30_000,
      want: true,
    },
    { name: "stops after its time", route: usual, failed, attempts: 1, elapsedMs: 30_001, want: false },
    {
      name: "has no end of time with 0",
      route: routeOn(["ServerError"], { withinFirstMs: 0 }),
      failed,
      attempts: 1,
      elapsedMs: 1e9,
      want: true,
    },
    {
      name: "leaves an error without a condition",
      route: routeOn(conditions),
      failed: unlisted,
      attempts: 1,
      elapsedMs: 0,
      want: false,
    },
    {
      name: "follows a status of its own list",
      route: routeOn([], { statuses: [409, 422] }),
      failed: unlisted,
      attempts: 1,
      elapsedMs: 0,
      want: true,
    },
    {
      name: "keeps to the count with a status too",
      route: routeOn([], { statuses: [422] }),
      failed: unlisted,
      attempts: 3,
      elapsedMs: 0,
      want: false,
    },
    {
      name: "leaves a status that is not listed",
      route: routeOn([], { statuses: [409] }),
      failed: unlisted,
      attempts: 1,
      elapsedMs: 0,
      want: false,
    },
  ]) {
    it(row.name, () => assert.equal(mayFailOver(row.route, row.failed, row.attempts, row.elapsedMs), row.want));
  }

  it("never exceeds the count or the time, whatever failed", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(undefined, ...conditions),
        fc.option(fc.integer({ min: 400, max: 599 }), { nil: undefined }),
        fc.nat(20),
        fc.nat(100_000),
        (condition, status, attempts, elapsedMs) => {
          const route = routeOn(conditions, { statuses: [400, 500, 503] });
          if (mayFailOver(route, { condition, status }, attempts, elapsedMs)) {
            assert.ok(attempts < 3 && elapsedMs <= 30_000);
          }
        },
      ),
    );
  });
});
