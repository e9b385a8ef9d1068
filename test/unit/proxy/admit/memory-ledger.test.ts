import assert from "node:assert/strict";
import fc from "fast-check";
import type { Amounts, BalanceClaim, ConcurrencyClaim, LimitClaim, Refusal, ReserveRequest } from "#proxy/admit/ledger";
import { counterRetentionMs, MemoryLedger, type MemoryLedgerOptions } from "#proxy/admit/memory-ledger";
import type { Limit } from "#proxy/snapshot/types.gen";
import { firstMs, runSteps, steps, ttlMs } from "#test/support/ledger-commands";

const startMs = Date.UTC(2026, 0, 15, 12, 0, 0);

function amounts(partial: Partial<Amounts> = {}): Amounts {
  return { requests: 1n, inputTokens: 0n, outputTokens: 0n, costNanos: 0n, ...partial };
}

function limitOf(partial: Partial<Limit>): Limit {
  const defaults = {
    name: "l",
    unit: "Requests",
    limit: "2",
    period: "Day",
    algorithm: "FixedWindow",
    mode: "Enforce",
  } as const;
  return { ...defaults, ...partial };
}

function claimOf(partial: Partial<Limit>, counter = "key/ns/a/l"): LimitClaim {
  return { counter, limit: limitOf(partial) };
}

/** Gives back the first array of the same claims, as `claims.ts` does while its objects live. */
function interning<T extends { readonly counter: string }>(): (claims: readonly T[]) => readonly T[] {
  const known = new Map<string, readonly T[]>();
  return (claims) => {
    const name = claims.map((claim) => claim.counter + ("limit" in claim ? JSON.stringify(claim.limit) : "")).join(" ");
    const same = known.get(name) ?? claims;
    known.set(name, same);
    return same;
  };
}

/** The model knows one clock. */
function oneClock(clock: { readonly nowMs: number }): MemoryLedgerOptions {
  return { now: () => clock.nowMs, monotonicNow: () => clock.nowMs, reservationTtlMs: ttlMs };
}

describe("MemoryLedger", () => {
  let clock: { nowMs: number };
  let ledger: MemoryLedger;
  let shadow: string[];
  let nextId: number;
  beforeEach(() => {
    clock = { nowMs: startMs };
    shadow = [];
    nextId = 0;
    ledger = new MemoryLedger({
      now: () => clock.nowMs,
      monotonicNow: () => clock.nowMs,
      reservationTtlMs: ttlMs,
      onShadowRefusal: (name) => shadow.push(name),
    });
  });

  function reserve(request: Partial<ReserveRequest>): ReturnType<MemoryLedger["reserve"]> {
    const id = `r${nextId++}`;
    return ledger.reserve({ id, amounts: amounts(), limits: [], balances: [], concurrency: [], ...request });
  }

  function refusal(request: Partial<ReserveRequest>): Refusal {
    const result = reserve(request);
    assert.equal(result.kind, "refused");
    return result;
  }

  function spend(request: Partial<ReserveRequest>, actual: Amounts): void {
    const result = reserve(request);
    assert.equal(result.kind, "reserved");
    assert.equal(ledger.settle(result.id, actual), "settled");
  }

  it("agrees with the model when claims keep their identity from call to call, and idle counters are forgotten", async function () {
    this.timeout(20_000);
    const limits = interning<LimitClaim>();
    const balances = interning<BalanceClaim>();
    const concurrency = interning<ConcurrencyClaim>();
    await fc.assert(
      fc.asyncProperty(steps, async (commands) => {
        const own = { nowMs: firstMs };
        const checked = new MemoryLedger(oneClock(own));
        await runSteps(
          {
            reserve: (asked) => {
              for (const _ of checked.sweep(() => false, 10));
              return checked.reserve({
                ...asked,
                limits: limits(asked.limits),
                balances: balances(asked.balances),
                concurrency: concurrency(asked.concurrency),
              });
            },
            settle: (id, actual) => checked.settle(id, actual),
            touch: (id) => checked.touch(id),
            read: (counter) => checked.read(counter),
          },
          commands,
          own,
        );
      }),
      { numRuns: 1_000 },
    );
  });

  for (const row of [
    { name: "calls a day's limit a quota", limit: { period: "Day" }, reason: "quota" },
    { name: "calls a week's limit a quota", limit: { period: "Week" }, reason: "quota" },
    { name: "calls a lifetime limit a quota", limit: { period: "Lifetime" }, reason: "quota" },
    { name: "calls any limit in credits a quota", limit: { period: "Minute", unit: "Cost" }, reason: "quota" },
    { name: "calls an hour's limit a rate", limit: { period: "Hour" }, reason: "rate" },
    { name: "calls a bucket a rate", limit: { period: "Second", algorithm: "TokenBucket" }, reason: "rate" },
  ] as const) {
    it(row.name, () => {
      const limits = [claimOf(row.limit)];
      const refused = refusal({ amounts: amounts({ requests: 3n, costNanos: 3n }), limits });
      assert.equal(refused.reason, row.reason);
      assert.equal(refused.counter, "key/ns/a/l");
    });
  }

  it("counts what is pending, and frees what was not used", () => {
    const limits = [claimOf({ unit: "Tokens", limit: "100" })];
    const first = reserve({ amounts: amounts({ outputTokens: 80n }), limits });
    const blocked = refusal({ amounts: amounts({ outputTokens: 30n }), limits });
    assert.equal(blocked.retryAtMs, startMs + 1_000);
    assert.equal(ledger.settle(first.kind === "reserved" ? first.id : "", amounts({ outputTokens: 10n })), "settled");
    assert.equal(reserve({ amounts: amounts({ outputTokens: 90n }), limits }).kind, "reserved");
  });

  it("says when a used-up window opens again, and never for what is larger than the limit", () => {
    const limits = [claimOf({})];
    spend({ limits }, amounts());
    spend({ limits }, amounts());
    assert.equal(refusal({ limits }).retryAtMs, Date.UTC(2026, 0, 16));
    assert.equal(refusal({ amounts: amounts({ requests: 3n }), limits }).retryAtMs, undefined);
    clock.nowMs = Date.UTC(2026, 0, 16);
    assert.equal(reserve({ limits }).kind, "reserved");
  });

  it("names the limit that waiting cures last", () => {
    const rate = claimOf({ limit: "0", period: "Second" }, "key/ns/a/rate");
    const quota = claimOf({ limit: "0", period: "Month" }, "key/ns/a/quota");
    assert.equal(refusal({ limits: [rate, quota] }).counter, "key/ns/a/quota");
    const balances = [{ counter: "account/ns/a", grantedNanos: 0n }];
    const refused = refusal({ amounts: amounts({ costNanos: 1n }), limits: [rate, quota], balances });
    assert.equal(refused.reason, "balance");
    assert.equal(refused.retryAtMs, undefined);
  });

  it("never refuses in Shadow mode, but counts and reports", () => {
    const limits = [claimOf({ mode: "Shadow", limit: "1" })];
    spend({ limits }, amounts());
    spend({ limits }, amounts());
    assert.deepEqual(shadow, ["key/ns/a/l"]);
    assert.equal(ledger.counts.shadowRefused, 1);
    assert.equal(ledger.read("key/ns/a/l")?.posted, 2n);
  });

  it("stops at once when a limit is lowered below what is spent, and goes on when it is raised", () => {
    spend({ limits: [claimOf({ limit: "10" })] }, amounts({ requests: 5n }));
    const lowered = refusal({ limits: [claimOf({ limit: "3" })] });
    assert.equal(lowered.states[0]?.remaining, 0n);
    assert.equal(reserve({ limits: [claimOf({ limit: "6" })] }).kind, "reserved");
    assert.equal(ledger.read("key/ns/a/l")?.posted, 5n);
  });

  it("keeps a window's sum when the period grows, and starts afresh when the unit changes", () => {
    spend({ limits: [claimOf({ period: "Hour" })] }, amounts());
    reserve({ limits: [claimOf({ period: "Day" })] });
    assert.equal(ledger.read("key/ns/a/l")?.posted, 1n);
    reserve({ limits: [claimOf({ period: "Day", unit: "Cost" })] });
    assert.equal(ledger.read("key/ns/a/l")?.posted, 0n);
  });

  it("posts a cost above its reservation in full and counts the overshoot", () => {
    const balances = [{ counter: "account/ns/a", grantedNanos: 100n }];
    spend({ amounts: amounts({ costNanos: 60n }), balances }, amounts({ costNanos: 130n }));
    assert.equal(ledger.read("account/ns/a")?.posted, 130n);
    assert.equal(ledger.counts.overshot, 1);
    assert.equal(ledger.counts.overshotNanos, 70n);
    assert.equal(refusal({ balances }).reason, "balance");
  });

  it("counts consumption without a grant too, and a lowered grant holds at once", () => {
    const counter = "account/ns/a";
    spend({ balances: [{ counter, grantedNanos: undefined }] }, amounts({ costNanos: 5n }));
    assert.equal(
      refusal({ amounts: amounts({ costNanos: 1n }), balances: [{ counter, grantedNanos: 5n }] }).reason,
      "balance",
    );
    assert.equal(
      reserve({ amounts: amounts({ costNanos: 1n }), balances: [{ counter, grantedNanos: 6n }] }).kind,
      "reserved",
    );
  });

  it("returns for a repeated reserve the same reservation, and a repeated settle by its name", () => {
    const limits = [claimOf({ limit: "1" })];
    const request = { id: "twice", amounts: amounts(), limits, balances: [], concurrency: [] };
    assert.equal(ledger.reserve(request).kind, "reserved");
    assert.equal(ledger.reserve(request).kind, "reserved");
    assert.equal(ledger.read("key/ns/a/l")?.pending, 1n);
    assert.equal(ledger.settle("twice", amounts()), "settled");
    assert.equal(ledger.settle("twice", amounts()), "repeated");
    assert.equal(ledger.settle("never", amounts()), "unknown");
    assert.equal(ledger.read("key/ns/a/l")?.posted, 1n);
  });

  it("releases what nobody settled or touched, and still posts a late settlement", () => {
    const balances = [{ counter: "account/ns/a", grantedNanos: 10n }];
    const request = { amounts: amounts({ costNanos: 10n }), balances };
    const first = reserve(request);
    assert.ok(first.kind === "reserved");
    clock.nowMs += ttlMs - 1;
    ledger.touch(first.id);
    clock.nowMs += ttlMs - 1;
    assert.equal(ledger.read("account/ns/a")?.pending, 10n);
    clock.nowMs += 1;
    assert.equal(ledger.read("account/ns/a")?.pending, 0n);
    assert.equal(ledger.counts.expired, 1);
    assert.equal(ledger.settle(first.id, amounts({ costNanos: 7n })), "late");
    assert.equal(ledger.settle(first.id, amounts({ costNanos: 7n })), "repeated");
    assert.equal(ledger.read("account/ns/a")?.posted, 7n);
  });

  it("leaves a window alone when a reservation of the one before is settled", () => {
    const limits = [claimOf({ period: "Minute", unit: "Tokens", limit: "100" })];
    const first = reserve({ amounts: amounts({ outputTokens: 100n }), limits });
    assert.ok(first.kind === "reserved");
    clock.nowMs += 5_000;
    ledger.touch(first.id);
    clock.nowMs = startMs + 60_000;
    const second = reserve({ amounts: amounts({ outputTokens: 100n }), limits });
    assert.equal(second.kind, "reserved");
    ledger.settle(first.id, amounts({ outputTokens: 90n }));
    assert.deepEqual(ledger.read("key/ns/a/l"), {
      counter: "key/ns/a/l",
      posted: 0n,
      pending: 100n,
      windowStartMs: startMs + 60_000,
    });
  });

  it("opens no window twice when the clock is set back", () => {
    const limits = [claimOf({ limit: "1" })];
    spend({ limits }, amounts());
    clock.nowMs -= 30 * 3_600_000;
    assert.equal(reserve({ limits }).kind, "refused");
  });

  it("bounds requests in flight and frees them when they end, however they end", () => {
    const concurrency = [{ counter: "key/ns/a", maxInFlight: 1 }];
    const first = reserve({ concurrency });
    assert.equal(refusal({ concurrency }).reason, "concurrency");
    ledger.settle(first.kind === "reserved" ? first.id : "", amounts({ requests: 0n }));
    assert.equal(reserve({ concurrency }).kind, "reserved");
    clock.nowMs += ttlMs;
    assert.equal(reserve({ concurrency }).kind, "reserved");
  });

  it("is exact beyond 2^53", () => {
    const granted = 9_000_000_000_000_000_000n;
    const balances = [{ counter: "account/ns/a", grantedNanos: granted }];
    const limits = [claimOf({ unit: "Cost", limit: String(granted), period: "Lifetime" })];
    const half = BigInt(Number.MAX_SAFE_INTEGER);
    for (let index = 0; index < 999; index += 1)
      spend({ amounts: amounts({ costNanos: half }), balances, limits }, amounts({ costNanos: half }));
    const left = granted - 999n * half;
    assert.equal(ledger.read("account/ns/a")?.posted, 999n * half);
    assert.equal(reserve({ amounts: amounts({ costNanos: left + 1n }), balances }).kind, "refused");
    assert.equal(reserve({ amounts: amounts({ costNanos: left }), balances, limits }).kind, "reserved");
    assert.equal(refusal({ amounts: amounts({ costNanos: 1n }), limits }).reason, "quota");
  });

  it("keeps what counts without end 30 days after its object is gone, and for ever while it lives", () => {
    const limits = [claimOf({ period: "Lifetime" })];
    const balances = [{ counter: "account/ns/a", grantedNanos: 9n }];
    spend({ amounts: amounts({ costNanos: 1n }), limits, balances }, amounts({ costNanos: 1n }));
    const sweep = (isLive: boolean): void => {
      for (const _ of ledger.sweep(() => isLive, 1));
    };
    clock.nowMs += 400 * 86_400_000;
    sweep(true);
    clock.nowMs += counterRetentionMs - 1;
    sweep(false);
    assert.equal(ledger.read("key/ns/a/l")?.posted, 1n);
    assert.equal(ledger.read("account/ns/a")?.posted, 1n);
    clock.nowMs += 1;
    sweep(false);
    assert.equal(ledger.read("key/ns/a/l"), undefined);
    assert.equal(ledger.read("account/ns/a"), undefined);
  });

  it("counts anew in what was forgotten, for claims used before", () => {
    const limits = [claimOf({ period: "Day" })];
    const concurrency = [{ counter: "key/ns/a", maxInFlight: 1 }];
    spend({ limits, concurrency }, amounts());
    clock.nowMs += 86_400_000;
    for (const _ of ledger.sweep(() => false, 10));
    assert.equal(reserve({ limits, concurrency }).kind, "reserved");
    assert.equal(ledger.read("key/ns/a/l")?.pending, 1n);
    assert.equal(ledger.read("key/ns/a")?.pending, 1n);
    assert.equal(refusal({ concurrency: [...concurrency] }).reason, "concurrency");
  });

  it("keeps apart callers that share some of their claims", () => {
    const limits = [claimOf({ period: "Day", limit: "100" })];
    const [first, second] = ["a", "b"].map((name) => [{ counter: `account/ns/${name}`, grantedNanos: 9n }]);
    assert.ok(first !== undefined && second !== undefined);
    for (const balances of [first, second, first]) {
      spend({ amounts: amounts({ costNanos: 1n }), limits, balances }, amounts({ costNanos: 1n }));
    }
    assert.equal(ledger.read("account/ns/a")?.posted, 2n);
    assert.equal(ledger.read("account/ns/b")?.posted, 1n);
    assert.equal(ledger.read("key/ns/a/l")?.posted, 3n);
  });

  it("forgets windows that are over and full buckets, and nothing that still counts", () => {
    const day = claimOf({ period: "Day" }, "key/ns/a/day");
    const bucket = claimOf({ period: "Hour", algorithm: "TokenBucket" }, "key/ns/a/bucket");
    spend({ limits: [day, bucket] }, amounts());
    for (const _ of ledger.sweep(() => true, 10));
    assert.equal(ledger.read("key/ns/a/day")?.posted, 1n);
    assert.equal(ledger.read("key/ns/a/bucket")?.posted, 1n);
    clock.nowMs += 86_400_000;
    for (const _ of ledger.sweep(() => true, 10));
    assert.equal(ledger.read("key/ns/a/day"), undefined);
    assert.equal(ledger.read("key/ns/a/bucket"), undefined);
  });
});
