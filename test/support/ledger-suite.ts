/**
 * The one suite that every ledger passes: random commands against a model, and tables of what a model is too plain for.
 *
 * fast-check prints the seed of a failure; `TOLLGATE_SEED` runs it again.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import type { Amounts, LimitClaim, OpenLedger, ReserveRequest } from "#proxy/admit/ledger";
import type { Limit } from "#proxy/snapshot/types.gen";
import { firstMs, runSteps, steps, ttlMs } from "./ledger-commands.ts";

export interface LedgerUnderTest {
  readonly name: string;
  /** Random histories; each has up to 40 commands. */
  readonly histories: number;
  /** Skips where something is missing. */
  readonly prepare?: (context: Mocha.Context) => Promise<void>;
  /** Opens an empty ledger that goes by this clock alone. */
  readonly open: (clock: { readonly nowMs: number }) => Promise<OpenLedger>;
  /** Ends what `prepare` and `open` began; the ledger itself is closed. */
  readonly end?: () => Promise<void>;
}

const seed = process.env["TOLLGATE_SEED"];

function amounts(partial: Partial<Amounts> = {}): Amounts {
  return { requests: 1n, inputTokens: 0n, outputTokens: 0n, costNanos: 0n, ...partial };
}

function limitOf(partial: Partial<Limit>): Limit {
  const base = {
    name: "l",
    unit: "Requests",
    limit: "2",
    period: "Day",
    algorithm: "FixedWindow",
    mode: "Enforce",
  } as const;
  return { ...base, ...partial };
}

/** Gives every counter and id a name of its own, so that one ledger serves many tests. */
function renamed(ledger: OpenLedger, prefix: string): OpenLedger {
  const named = <T extends { readonly counter: string }>(claim: T): T => ({
    ...claim,
    counter: prefix + claim.counter,
  });
  return Object.assign(Object.create(ledger), {
    reserve: (request: ReserveRequest) =>
      ledger.reserve({
        ...request,
        id: prefix + request.id,
        limits: request.limits.map(named),
        balances: request.balances.map(named),
        concurrency: request.concurrency.map(named),
      }),
    settle: (id: string, actual: Amounts) => ledger.settle(prefix + id, actual),
    touch: (id: string) => ledger.touch(prefix + id),
    read: (counter: string) => ledger.read(prefix + counter),
  });
}

/** Declares the suite for one ledger. */
export function describeLedger(under: LedgerUnderTest): void {
  describe(`the ledger: ${under.name}`, function () {
    this.timeout(120_000);
    const clock = { nowMs: firstMs };
    let opened: OpenLedger | undefined;
    let ledger: OpenLedger;
    let runs = 0;

    const next = (): OpenLedger => {
      assert.ok(opened !== undefined);
      runs += 1;
      return renamed(opened, `run-${runs}/`);
    };
    before(async function () {
      await under.prepare?.(this);
      opened = await under.open(clock);
    });
    after(async () => {
      await opened?.close();
      await under.end?.();
    });
    beforeEach(() => {
      // Behind all windows and reservations of the tests before.
      clock.nowMs = firstMs + 86_400_000 * runs;
      ledger = next();
    });

    describeHistories(under, clock, () => ({
      ledger: next(),
      counts: () => opened?.counts,
      open: () => opened?.openCount,
    }));
    describeSecondCalls(() => ledger, clock);
    describeEdits(() => ledger, clock);
    describeCalendar(() => ledger, clock);
    describeNumbers(() => ledger);
  });
}

interface Run {
  readonly ledger: OpenLedger;
  readonly counts: () => OpenLedger["counts"] | undefined;
  readonly open: () => number | undefined;
}

function describeHistories(under: LedgerUnderTest, clock: { nowMs: number }, next: () => Run): void {
  const numRuns = under.histories;
  const options = { numRuns, ...(seed !== undefined && { seed: Number(seed) }) };

  it(`agrees with the model on ${numRuns} random histories, with nothing left pending`, () =>
    fc.assert(
      fc.asyncProperty(steps, async (commands) => {
        clock.nowMs = Math.ceil(clock.nowMs / 86_400_000) * 86_400_000 + (firstMs % 86_400_000);
        const { ledger, counts, open } = next();
        const before = { ...counts() };
        await runSteps(ledger, commands, clock);
        const { reserved = 0, settled = 0, expired = 0, resumed = 0 } = counts() ?? {};
        const made = reserved - (before.reserved ?? 0) + resumed - (before.resumed ?? 0);
        const ended = settled - (before.settled ?? 0) + expired - (before.expired ?? 0);
        assert.equal(ended, made, "each reservation was settled or expired once");
        assert.equal(open(), 0);
      }),
      options,
    ));
}

function describeSecondCalls(of: () => OpenLedger, clock: { nowMs: number }): void {
  const balances = [{ counter: "account/ns/a", grantedNanos: 100n }];
  const limits = [{ counter: "key/ns/a/l", limit: limitOf({ unit: "Cost", limit: "100", period: "Lifetime" }) }];
  const request = { id: "one", amounts: amounts({ costNanos: 40n }), limits, balances, concurrency: [] };

  it("names a second settlement, and counts nothing by it", async () => {
    assert.equal((await of().reserve(request)).kind, "reserved");
    assert.equal(await of().settle("one", amounts({ costNanos: 30n })), "settled");
    assert.equal(await of().settle("one", amounts({ costNanos: 30n })), "repeated");
    assert.equal(await of().settle("another", amounts({ costNanos: 30n })), "unknown");
    for (const counter of ["account/ns/a", "key/ns/a/l"]) {
      const reading = await of().read(counter);
      assert.deepEqual([reading?.posted, reading?.pending], [30n, 0n], counter);
    }
  });

  it("reserves once by one id, and shows the same numbers again", async () => {
    const first = await of().reserve(request);
    const second = await of().reserve(request);
    assert.deepEqual(second.kind === "reserved" && second.states, first.kind === "reserved" && first.states);
    assert.equal((await of().read("account/ns/a"))?.pending, 40n);
  });

  it("posts a settlement that comes after expiry, once", async () => {
    await of().reserve(request);
    clock.nowMs += ttlMs;
    assert.equal((await of().read("account/ns/a"))?.pending, 0n);
    assert.equal(await of().settle("one", amounts({ costNanos: 30n })), "late");
    assert.equal(await of().settle("one", amounts({ costNanos: 30n })), "repeated");
    assert.deepEqual((await of().read("account/ns/a"))?.posted, 30n);
  });

  it("holds again what is touched after it expired, whatever is left, and settles it once", async () => {
    await of().reserve(request);
    clock.nowMs += ttlMs;
    const other = { ...request, id: "two", amounts: amounts({ costNanos: 90n }) };
    assert.equal((await of().reserve(other)).kind, "reserved");
    of().touch("one");
    assert.equal((await of().read("account/ns/a"))?.pending, 130n);
    assert.equal(await of().settle("two", amounts({ costNanos: 50n })), "settled");
    assert.equal((await of().reserve({ ...other, id: "three" })).kind, "refused");
    assert.equal(await of().settle("one", amounts({ costNanos: 40n })), "settled");
    for (const counter of ["account/ns/a", "key/ns/a/l"]) {
      const reading = await of().read(counter);
      assert.deepEqual([reading?.posted, reading?.pending], [90n, 0n], counter);
    }
  });

  it("keeps what is touched, as long as it is touched", async () => {
    await of().reserve(request);
    for (let round = 0; round < 4; round += 1) {
      clock.nowMs += ttlMs - 1;
      // A store hears of the time with a question, and `touch` waits for no answer.
      await of().read("account/ns/a");
      of().touch("one");
      assert.equal((await of().read("account/ns/a"))?.pending, 40n);
    }
    clock.nowMs += ttlMs;
    assert.equal((await of().read("account/ns/a"))?.pending, 0n);
  });
}

function describeEdits(of: () => OpenLedger, clock: { nowMs: number }): void {
  const spend = async (limit: Limit, costNanos: bigint, tag: string): Promise<string> => {
    const limits: LimitClaim[] = [{ counter: "key/ns/a/l", limit }];
    const amount = { requests: 1n, inputTokens: costNanos, outputTokens: 0n, costNanos };
    const id = `${tag}-${costNanos}-${limit.period}-${limit.limit}-${limit.unit}-${limit.timeZone}-${limit.algorithm}`;
    const result = await of().reserve({ id, amounts: amount, limits, balances: [], concurrency: [] });
    if (result.kind === "reserved") await of().settle(id, amount);
    return result.kind;
  };
  const day = limitOf({ unit: "Cost", limit: "100", period: "Day" });

  for (const row of [
    { name: "lowered below what was spent stops at once", to: { limit: "50" }, fits: 0n },
    { name: "raised gives the difference and no more", to: { limit: "150" }, fits: 60n },
    { name: "from a day to a month keeps what was spent", to: { period: "Month" }, fits: 10n },
    { name: "from a day to an hour keeps what was spent", to: { period: "Hour", algorithm: "FixedWindow" }, fits: 10n },
    { name: "from a day to a lifetime keeps what was spent", to: { period: "Lifetime" }, fits: 10n },
    { name: "of another time zone keeps what was spent", to: { timeZone: "Asia/Tokyo" }, fits: 10n },
    { name: "of another unit begins anew", to: { unit: "InputTokens" }, fits: 100n },
    { name: "of another algorithm begins anew", to: { period: "Hour", algorithm: "TokenBucket" }, fits: 100n },
  ] as const) {
    it(`a limit ${row.name}`, async () => {
      // Noon in every zone's same day, so that no window is over.
      clock.nowMs = Math.floor(clock.nowMs / 86_400_000) * 86_400_000 + 3_600_000 * 12 + 1;
      assert.equal(await spend(day, 90n, "a"), "reserved");
      const edited = limitOf({ ...day, ...row.to });
      assert.equal(await spend(edited, row.fits + 1n, "b"), "refused");
      if (row.fits > 0n) assert.equal(await spend(edited, row.fits, "c"), "reserved");
      assert.equal(await spend(edited, 1n, "d"), "refused");
      // And back: nothing is granted by the detour.
      assert.equal(await spend(day, 11n, "e"), "refused");
    });
  }

  it("a reservation made before an edit of the period is settled where it counts", async () => {
    const limits = [{ counter: "key/ns/a/l", limit: day }];
    const asked = { amounts: amounts({ costNanos: 40n }), balances: [], concurrency: [] };
    await of().reserve({ id: "before", limits, ...asked });
    const month = [{ counter: "key/ns/a/l", limit: limitOf({ ...day, period: "Month" }) }];
    assert.equal((await of().reserve({ id: "after", limits: month, ...asked })).kind, "reserved");
    await of().settle("before", amounts({ costNanos: 7n }));
    const reading = await of().read("key/ns/a/l");
    assert.deepEqual([reading?.posted, reading?.pending], [7n, 40n]);
  });
}

function describeCalendar(of: () => OpenLedger, clock: { nowMs: number }): void {
  for (const row of [
    { name: "a second", limit: { period: "Second" }, at: "2041-03-01T10:00:00.999Z", edgeMs: 1 },
    { name: "a minute", limit: { period: "Minute" }, at: "2041-03-01T10:00:59.990Z", edgeMs: 10 },
    { name: "an hour", limit: { period: "Hour" }, at: "2041-03-01T10:59:59.999Z", edgeMs: 1 },
    { name: "a day", limit: { period: "Day" }, at: "2041-03-01T23:59:59.999Z", edgeMs: 1 },
    { name: "a week", limit: { period: "Week" }, at: "2041-03-03T23:59:59.999Z", edgeMs: 1 },
    { name: "February", limit: { period: "Month" }, at: "2041-02-28T23:59:59.999Z", edgeMs: 1 },
    { name: "February of a leap year", limit: { period: "Month" }, at: "2044-02-29T23:59:59.999Z", edgeMs: 1 },
    { name: "a leap day", limit: { period: "Day" }, at: "2044-02-29T23:59:59.999Z", edgeMs: 1 },
    { name: "a month of 30 days", limit: { period: "Month" }, at: "2041-04-30T23:59:59.999Z", edgeMs: 1 },
    // Clocks go forward there on 31 March 2041 and back on 27 October: days of 23 and 25 hours.
    {
      name: "a day of 23 hours",
      limit: { period: "Day", timeZone: "Europe/Berlin" },
      at: "2041-03-31T21:59:59.999Z",
      edgeMs: 1,
    },
    {
      name: "a day of 25 hours",
      limit: { period: "Day", timeZone: "Europe/Berlin" },
      at: "2041-10-27T22:59:59.999Z",
      edgeMs: 1,
    },
    {
      name: "a month in Tokyo",
      limit: { period: "Month", timeZone: "Asia/Tokyo" },
      at: "2041-05-31T14:59:59.999Z",
      edgeMs: 1,
    },
  ] as const) {
    it(`a window of ${row.name} ends where it ends`, async () => {
      clock.nowMs = Date.parse(row.at);
      const limits = [{ counter: "key/ns/a/l", limit: limitOf({ ...row.limit, limit: "1" }) }];
      const reserve = async (id: string): Promise<string> =>
        (await of().reserve({ id, amounts: amounts(), limits, balances: [], concurrency: [] })).kind;
      assert.equal(await reserve("first"), "reserved");
      assert.equal(await of().settle("first", amounts()), "settled");
      assert.equal(await reserve("second"), "refused");
      const refused = await of().reserve({ id: "third", amounts: amounts(), limits, balances: [], concurrency: [] });
      assert.equal(refused.kind === "refused" && refused.retryAtMs, clock.nowMs + row.edgeMs);
      clock.nowMs += row.edgeMs;
      assert.equal(await reserve("fourth"), "reserved");
    });
  }
}

function describeNumbers(of: () => OpenLedger): void {
  it("decides to the nano-credit beyond 2^53", async () => {
    const granted = 9_000_000_000_000_000_000n;
    const balances = [{ counter: "account/ns/a", grantedNanos: granted }];
    const large = BigInt(Number.MAX_SAFE_INTEGER);
    for (let index = 0; index < 999; index += 1) {
      const id = `large-${index}`;
      await of().reserve({ id, amounts: amounts({ costNanos: large }), limits: [], balances, concurrency: [] });
      assert.equal(await of().settle(id, amounts({ costNanos: large })), "settled");
    }
    const left = granted - 999n * large;
    const ask = async (costNanos: bigint): Promise<string> =>
      (
        await of().reserve({
          id: `ask-${costNanos}`,
          amounts: amounts({ costNanos }),
          limits: [],
          balances,
          concurrency: [],
        })
      ).kind;
    assert.equal(await ask(left + 1n), "refused");
    assert.equal(await ask(left), "reserved");
    assert.equal(await ask(1n), "refused");
    const reading = await of().read("account/ns/a");
    assert.deepEqual([reading?.posted, reading?.pending], [999n * large, left]);
  });

  it("says which limit refused, what is left of each and when there is room", async () => {
    const narrow = {
      counter: "key/ns/a/narrow",
      limit: limitOf({ unit: "InputTokens", limit: "5", period: "Lifetime" }),
    };
    const wide = { counter: "key/ns/a/wide", limit: limitOf({ unit: "InputTokens", limit: "50" }) };
    const request = { limits: [wide, narrow], balances: [], concurrency: [] };
    const made = await of().reserve({ id: "made", amounts: amounts({ inputTokens: 3n }), ...request });
    assert.deepEqual(
      made.states.map(({ remaining }) => remaining),
      [47n, 2n],
    );
    const refused = await of().reserve({ id: "more", amounts: amounts({ inputTokens: 3n }), ...request });
    assert.ok(refused.kind === "refused");
    assert.equal(refused.reason, "quota");
    assert.equal(refused.counter.endsWith("key/ns/a/narrow"), true);
    assert.deepEqual(
      refused.states.map(({ remaining }) => remaining),
      [47n, 2n],
    );
    assert.ok(refused.retryAtMs !== undefined, "the reservation in the way may be given back");
    const never = await of().reserve({ id: "never", amounts: amounts({ inputTokens: 6n }), ...request });
    assert.equal(never.kind === "refused" && never.retryAtMs, undefined);
  });
}
