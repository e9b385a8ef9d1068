/** docs/design/reliability.md M1: a step of the wall clock moves windows of the calendar and nothing else. */
import assert from "node:assert/strict";
import type { Amounts, LimitClaim, Refusal, Reservation, ReserveRequest } from "#proxy/admit/ledger";
import { MemoryLedger } from "#proxy/admit/memory-ledger";
import { ChangeJournal } from "#proxy/admit/store/change-journal";
import type { StoredCounter } from "#proxy/admit/store/store-messages";
import type { Limit } from "#proxy/snapshot/types.gen";

const startMs = Date.UTC(2026, 8, 23, 12);
const ttlMs = 60_000;
const dayMs = 86_400_000;
const amounts: Amounts = { requests: 1n, inputTokens: 100n, outputTokens: 100n, costNanos: 100n };
const bucketOfSixty: LimitClaim = {
  counter: "key/ns/k/rpm",
  limit: {
    name: "rpm",
    unit: "Requests",
    limit: "60",
    period: "Minute",
    algorithm: "TokenBucket",
    mode: "Enforce",
  },
};

describe("the ledger's two clocks", () => {
  let wallMs: number;
  let monotonicMs: number;
  let ledger: MemoryLedger;
  let nextId: number;
  beforeEach(() => {
    wallMs = startMs;
    monotonicMs = 5_000.75;
    nextId = 0;
    ledger = new MemoryLedger({
      now: () => wallMs,
      monotonicNow: () => monotonicMs,
      reservationTtlMs: ttlMs,
    });
  });

  function pass(ms: number): void {
    wallMs += ms;
    monotonicMs += ms;
  }

  function reserve(request: Partial<ReserveRequest>): Reservation | Refusal {
    const id = `r${nextId++}`;
    return ledger.reserve({ id, amounts, limits: [], balances: [], concurrency: [], ...request });
  }

  function admitted(limits: readonly LimitClaim[], calls: number): number {
    return Array.from({ length: calls }, () => reserve({ limits })).filter(({ kind }) => kind === "reserved").length;
  }

  for (const stepMs of [ttlMs + 1_000, dayMs + ttlMs + 1_000, -3_600_000]) {
    it(`holds what a running call reserved when the clock is set by ${stepMs / 1_000} s`, () => {
      const balances = [{ counter: "account/ns/a", grantedNanos: 100n }];
      const concurrency = [{ counter: "key/ns/k", maxInFlight: 1 }];
      assert.equal(reserve({ id: "running", balances, concurrency }).kind, "reserved");
      wallMs += stepMs;
      const second = reserve({ balances, concurrency });
      assert.equal(second.kind === "refused" && second.reason, "balance");
      assert.equal(ledger.read("key/ns/k")?.pending, 1n);
      assert.equal(ledger.settle("running", amounts), "settled");
      assert.equal(ledger.read("account/ns/a")?.posted, 100n);
    });
  }

  const perDay: LimitClaim = {
    counter: "key/ns/k/rpd",
    limit: { name: "rpd", unit: "Requests", limit: "4", period: "Day", algorithm: "FixedWindow", mode: "Enforce" },
  };
  const settle = (calls: number): void => {
    for (let call = nextId - calls; call < nextId; call += 1) ledger.settle(`r${call}`, amounts);
  };

  for (const { name, stepMs } of [
    { name: "a month", stepMs: 30 * dayMs },
    { name: "a day", stepMs: dayMs },
    { name: "to the next window", stepMs: dayMs / 2 },
  ]) {
    it(`blocks no key beyond its window when the clock was ahead by ${name} for a second, and loses no count`, () => {
      assert.equal(admitted([perDay], 1), 1);
      settle(1);
      wallMs += stepMs;
      assert.equal(admitted([perDay], 2), 2);
      settle(1);
      wallMs -= stepMs;
      pass(1_000);
      // One before, one of the wrong window that has ended and one that has not.
      const states = reserve({ limits: [perDay] }).states;
      assert.deepEqual([states[0]?.remaining, states[0]?.resetAtMs], [0n, startMs + dayMs / 2]);
      const refused = reserve({ limits: [perDay] });
      assert.equal(refused.kind === "refused" && refused.retryAtMs, wallMs + 1_000);
      settle(2);
      pass(dayMs / 2);
      // The next day: what was counted in it before stays, so that no window opens twice.
      assert.equal(admitted([perDay], 5), stepMs > dayMs ? 4 : 3);
    });
  }

  it("counts on in the window that it is when the clock is set back to a day that is over", () => {
    assert.equal(admitted([perDay], 2), 2);
    wallMs -= 3 * dayMs;
    assert.equal(admitted([perDay], 3), 2);
    settle(2);
    pass(dayMs);
    assert.equal(admitted([perDay], 5), 4);
  });

  describe("a limit of 100 a day", () => {
    const hundred: LimitClaim = { ...perDay, limit: { ...perDay.limit, limit: "100" } };
    const midnightMs = startMs + dayMs / 2;
    /** Reserved, and not settled: calls that go on. */
    const begin = (calls: number): readonly string[] => {
      const first = nextId;
      const count = admitted([hundred], calls);
      return Array.from({ length: count }, (_, index) => `r${first + index}`);
    };
    const end = (ids: readonly string[]): void => {
      for (const id of ids) ledger.settle(id, amounts);
    };

    it("holds what runs over midnight when the clock is set back over it", () => {
      pass(midnightMs - startMs - 10);
      const running = begin(100);
      pass(20);
      end(begin(1));
      wallMs -= 30;
      assert.deepEqual(begin(1), []);
      end(running);
      assert.equal(ledger.read(hundred.counter)?.posted, 101n);
      assert.deepEqual(begin(1), []);
    });

    it("holds and posts what ran while the clock was ahead for a second", () => {
      const running = begin(100);
      wallMs += dayMs;
      end(begin(1));
      wallMs -= dayMs;
      pass(1_000);
      assert.deepEqual(begin(1), []);
      end(running);
      assert.deepEqual(begin(1), []);
      pass(dayMs);
      assert.equal(begin(200).length, 99);
    });

    it("remembers a day while the clock is ahead over the edge of another", () => {
      end(begin(100));
      pass(dayMs / 2 - 500);
      wallMs += dayMs;
      end(begin(1));
      pass(1_000);
      end(begin(1));
      wallMs -= dayMs + dayMs / 2;
      assert.deepEqual(begin(1), []);
    });

    it("remembers a day while the clock comes back in two steps", () => {
      end(begin(100));
      wallMs += 30 * dayMs;
      end(begin(1));
      wallMs -= 15 * dayMs;
      end(begin(1));
      wallMs -= 15 * dayMs;
      assert.deepEqual(begin(1), []);
    });

    it("counts once what was counted while the clock steps over an edge to and fro", () => {
      pass(midnightMs - startMs - 100);
      end(begin(10));
      for (let step = 0; step < 20; step += 1) {
        wallMs += 200;
        end(begin(step === 0 ? 10 : 0));
        assert.equal(reserve({ limits: [hundred] }).states[0]?.remaining, BigInt(90 - 1 - step));
        end([`r${nextId - 1}`]);
        wallMs -= 200;
        assert.equal(reserve({ limits: [hundred] }).kind, "reserved");
        ledger.settle(`r${nextId - 1}`, { ...amounts, requests: 0n });
        assert.equal(ledger.read(hundred.counter)?.posted, BigInt(20 + 1 + step));
      }
    });

    for (const stepMs of [dayMs, -dayMs]) {
      it(`posts what ran while the clock went by ${stepMs / dayMs} day to and fro`, () => {
        const running = begin(60);
        for (let step = 0; step < 6; step += 1) {
          wallMs += step % 2 === 0 ? stepMs : -stepMs;
          end(begin(1));
        }
        const counted = ledger.read(hundred.counter);
        assert.equal(counted?.pending, 60n);
        end(running);
        assert.deepEqual(ledger.read(hundred.counter), { ...counted, pending: 0n, posted: counted.posted + 60n });
      });
    }

    it("takes from no other window what was held before its period was edited to and fro", () => {
      const ahead = begin(1);
      wallMs += dayMs;
      begin(10);
      wallMs -= dayMs;
      const running = begin(10);
      wallMs += dayMs;
      ledger.read(hundred.counter);
      const edited: LimitClaim = { ...hundred, limit: { ...hundred.limit, timeZone: "Europe/Berlin" } };
      reserve({ limits: [edited] });
      end([...ahead, ...running]);
      assert.equal(ledger.read(hundred.counter)?.pending, 11n);
    });

    it("is not forgotten by a sweep while a call of the day before runs", () => {
      const journal = new ChangeJournal(0, () => undefined);
      const running = begin(1);
      for (const ms of [dayMs, 3_600_000]) {
        pass(ms);
        for (const id of running) ledger.touch(id);
        ledger.read(hundred.counter);
      }
      pass(3_600_000);
      for (const _ of ledger.sweep(() => true, 10));
      assert.equal(journal.drainWhole(1, ledger).rows.length, 1);
    });

    it("remembers what was stored when it is opened while the clock is ahead", () => {
      const todayMs = startMs - dayMs / 2;
      const stored: StoredCounter = {
        id: 1,
        kind: "limit",
        name: hundred.counter,
        unit: "Requests",
        startMs: todayMs,
        amount: 90n,
      };
      ledger.restore([stored], 0);
      wallMs += dayMs;
      end(begin(1));
      wallMs -= dayMs;
      pass(1_000);
      assert.equal(begin(20).length, 9);
    });

    it("is not forgotten by a sweep while the clock is ahead", () => {
      end(begin(100));
      wallMs += dayMs;
      for (const _ of ledger.sweep(() => true, 10));
      wallMs -= dayMs;
      assert.deepEqual(begin(1), []);
    });
  });

  for (const edits of [
    ["Month", "Day"],
    ["Lifetime", "Day"],
    ["Week", "Month", "Day"],
    ["Day/Europe/Berlin", "Day"],
    ["Day/Pacific/Auckland", "Day"],
    ["Month", "Week", "Day/Pacific/Auckland"],
  ]) {
    it(`grants nothing anew where the period is edited: Day, ${edits.join(", ")}`, () => {
      assert.equal(admitted([perDay], 4), 4);
      settle(4);
      for (const edit of edits) {
        const [period = "", ...zone] = edit.split("/");
        const limit = { ...perDay.limit, period, ...(zone.length > 0 && { timeZone: zone.join("/") }) } as Limit;
        pass(1_000);
        assert.equal(admitted([{ ...perDay, limit }], 1), 0, edit);
      }
    });
  }

  for (const { name, edit } of [
    { name: "unit", edit: { unit: "InputTokens" } },
    { name: "algorithm", edit: { period: "Hour", algorithm: "TokenBucket" } },
  ] as const) {
    it(`grants nothing anew where calls from before and after an edit of the ${name} alternate`, () => {
      const edited: LimitClaim = { ...perDay, limit: { ...perDay.limit, ...edit } };
      const each = { ...amounts, inputTokens: 1n };
      assert.equal(admitted([perDay], 3), 3);
      settle(3);
      assert.equal(reserve({ id: "runs over it", limits: [perDay] }).kind, "reserved");
      for (let call = 0; call < 4; call += 1) {
        assert.equal(reserve({ id: `edited${call}`, amounts: each, limits: [edited] }).kind, "reserved");
        ledger.settle(`edited${call}`, each);
        assert.equal(admitted([perDay], 1), 0);
      }
      assert.equal(reserve({ amounts: each, limits: [edited] }).kind, "refused");
      assert.equal(ledger.settle("runs over it", amounts), "settled");
      assert.equal(admitted([perDay], 1), 0);
      assert.equal(ledger.read(perDay.counter)?.posted, 4n);
    });
  }

  it("keeps nothing of before where the period is edited after a new window began", () => {
    const monthly: LimitClaim = { ...perDay, limit: { ...perDay.limit, period: "Month" } };
    assert.equal(admitted([monthly], 4), 4);
    settle(4);
    pass(dayMs);
    assert.equal(admitted([perDay], 5), 4);
  });

  it("frees what nobody settled in time although the clock was set back, and posts it up to a day later", () => {
    const balances = [{ counter: "account/ns/a", grantedNanos: 100n }];
    reserve({ id: "lost", balances });
    monotonicMs += ttlMs;
    wallMs -= 3_600_000;
    assert.equal(ledger.read("account/ns/a")?.pending, 0n);
    wallMs += 10 * dayMs;
    reserve({});
    assert.equal(ledger.settle("lost", amounts), "late");
    assert.equal(ledger.read("account/ns/a")?.posted, 100n);
  });

  it("a sweep forgets no counter of what may be settled late, and stores nothing of it in a later window", () => {
    const journal = new ChangeJournal(0, () => undefined);
    ledger = new MemoryLedger({
      now: () => wallMs,
      monotonicNow: () => monotonicMs,
      reservationTtlMs: ttlMs,
      journal,
    });
    reserve({ id: "lost", limits: [perDay] });
    pass(dayMs - ttlMs);
    ledger.read("another");
    for (const _ of ledger.sweep(() => false, 10));
    assert.equal(admitted([perDay], 4), 4);
    settle(4);
    assert.equal(ledger.settle("lost", amounts), "late");
    assert.equal(admitted([perDay], 1), 0);
    const { rows } = journal.drainWhole(1, ledger);
    assert.deepEqual(
      rows.map(({ name, amount }) => [name, amount]),
      [[perDay.counter, 4n]],
    );
    ledger = new MemoryLedger({ now: () => wallMs, reservationTtlMs: ttlMs });
    ledger.restore(rows, 0);
    assert.equal(admitted([perDay], 1), 0);
  });

  it("fills a bucket by the time that passed, however the clock was set", () => {
    const limits = [bucketOfSixty];
    wallMs += 3_600_000;
    assert.equal(admitted(limits, 61), 60);
    wallMs -= 3_600_000;
    pass(10_000);
    assert.equal(admitted(limits, 11), 10);
    wallMs += 3_600_000;
    assert.equal(admitted(limits, 1), 0);
  });

  it("tells and stores a bucket's times by the wall clock", () => {
    const journal = new ChangeJournal(0, () => undefined);
    assert.equal(admitted([bucketOfSixty], 60), 60);
    wallMs += 3_600_000;
    const refused = reserve({ limits: [bucketOfSixty] });
    assert.equal(refused.kind === "refused" && refused.retryAtMs, wallMs + 1_000);
    assert.equal(refused.states[0]?.resetAtMs, wallMs + 60_000);
    assert.equal(ledger.read(bucketOfSixty.counter)?.windowStartMs, wallMs);
    assert.equal(journal.drainWhole(1, ledger).rows[0]?.startMs, wallMs);
  });

  for (const { name, storedAtMs, want } of [
    { name: "fills a restored bucket by the time since it was stored", storedAtMs: startMs - 20_000, want: 20 },
    { name: "fills a bucket that was stored in the future from now on", storedAtMs: startMs + 3_600_000, want: 0 },
  ]) {
    it(name, () => {
      const stored: StoredCounter = {
        id: 1,
        kind: "bucket",
        name: bucketOfSixty.counter,
        unit: "Requests",
        startMs: storedAtMs,
        amount: 0n,
      };
      ledger.restore([stored], 0);
      assert.equal(admitted([bucketOfSixty], 60), want);
      pass(5_000);
      assert.equal(admitted([bucketOfSixty], 60), 5);
    });
  }
});
