/** What the shared ledger does where the store has lost something, or holds what is not the ledger's. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Amounts, ReserveRequest } from "#proxy/admit/ledger";
import type { RedisLedger, RedisLedgerOptions } from "#proxy/admit/redis/redis-ledger";
import type { Limit } from "#proxy/snapshot/types.gen";
import { openRedisLedger, scriptByKey } from "#test/support/redis/redis-ledger";
import { needRedis, type RedisServer, startRedis } from "#test/support/redis/redis-server";
import { waitFor } from "#test/support/wait-for";

const spent = (costNanos: bigint): Amounts => ({ requests: 1n, inputTokens: 0n, outputTokens: 0n, costNanos });
const limit: Limit = {
  name: "l",
  unit: "Cost",
  limit: "1000",
  period: "Month",
  algorithm: "FixedWindow",
  mode: "Enforce",
};
const bucket: Limit = { ...limit, period: "Hour", algorithm: "TokenBucket" };
const quota = { counter: "key/ns/a/quota", limit };
const keyOf = (counter: string): string => `{tollgate}:c:${counter}`;

describe("RedisLedger, after losses", function () {
  this.timeout(30_000);
  let server: RedisServer;
  let folder: string;
  let opened: (() => Promise<void>)[] = [];
  let messages: string[];
  let nextId = 0;

  before(function () {
    needRedis(this);
  });
  beforeEach(async () => {
    server = await startRedis(["--appendonly", "yes"]);
    folder = mkdtempSync(join(tmpdir(), "tollgate-redis-losses-"));
    messages = [];
  });
  afterEach(async () => {
    server.resume();
    for (const close of opened.splice(0)) await close();
    opened = [];
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** On a folder of its own below the test's, unless `name` was opened before. */
  async function open(name: string, options: Partial<RedisLedgerOptions> = {}): Promise<RedisLedger> {
    const { ledger, close } = await openRedisLedger(server, {
      folder: join(folder, name),
      name,
      reservationTtlMs: 60_000,
      decisionTimeoutMs: 5_000,
      acceptEmpty: false,
      onStoreState: ({ kind, message }) => messages.push(`${kind}: ${message}`),
      onProblem: (message) => messages.push(message),
      ...options,
    });
    opened.push(close);
    return ledger;
  }

  /** Makes the store forget everything but its epoch, as one that takes over with old data. */
  async function rollBack(): Promise<void> {
    const epoch = await server.admin.get("{tollgate}:epoch");
    await server.admin.multi().flushall().set("{tollgate}:epoch", String(epoch)).exec();
  }

  /** @returns why not; `reserved` where it was */
  async function ask(ledger: RedisLedger, costNanos: bigint, more: Partial<ReserveRequest> = {}): Promise<string> {
    const id = `r${nextId++}`;
    const request = { id, amounts: spent(costNanos), limits: [quota], balances: [], concurrency: [], ...more };
    const result = await ledger.reserve(request);
    return result.kind === "refused" ? result.reason : result.kind;
  }

  async function sums(ledger: RedisLedger, counter: string): Promise<readonly (bigint | undefined)[]> {
    const reading = await ledger.read(counter);
    return [reading?.posted, reading?.pending];
  }

  describe("its history", () => {
    it("no proxy begins in a store without history unless it is told to, and the others follow one that did", async () => {
      const waiting = await open("waiting");
      assert.equal(waiting.storeState.kind, "lost");
      assert.match(messages.join("\n"), /has no history.* was emptied; restore it, or begin from zero by quota.accept/);
      assert.equal(await ask(waiting, 1n), "store-unavailable");
      const first = await open("first", { acceptEmpty: true });
      assert.equal(await ask(first, 1_000n), "reserved");
      await waitFor("the other to follow", () => waiting.storeState.kind === "usable");
      assert.equal(await ask(waiting, 1n), "quota");
    });

    it("an emptied store grants nothing anew to a proxy that never saw it", async () => {
      const first = await open("first", { acceptEmpty: true });
      assert.equal(await ask(first, 1_000n), "reserved");
      await server.admin.flushall();
      const fresh = await open("fresh");
      assert.equal(await ask(fresh, 1_000n), "store-unavailable");
      assert.equal(await ask(first, 1n), "store-unavailable");
    });

    it("a permission to begin holds once, though it stays in the settings, and again after a start without it", async () => {
      const reopened = async (acceptEmpty: boolean): Promise<string> => {
        const ledger = await open("one", { acceptEmpty });
        const { kind } = ledger.storeState;
        await ledger.close();
        return kind;
      };
      assert.equal(await reopened(true), "usable");
      await server.admin.flushall();
      assert.equal(await reopened(true), "lost");
      assert.equal(await reopened(true), "lost");
      await server.admin.set("{tollgate}:epoch", "of another store");
      assert.equal(await reopened(true), "lost");
      assert.equal(await reopened(false), "lost");
      assert.equal(await reopened(true), "usable");
    });

    it("a store without an append-only file is pointed out, once", async () => {
      await server.admin.config("SET", "appendonly", "no");
      const ledger = await open("one", { acceptEmpty: true });
      assert.equal(ledger.storeState.kind, "usable");
      assert.equal(messages.filter((message) => /writes no append-only file/.test(message)).length, 1);
    });
  });

  describe("a reservation that the store has lost", () => {
    const balance = { counter: "account/ns/a", grantedNanos: 10n ** 12n };
    const asked = { amounts: spent(500n), limits: [quota], balances: [balance], concurrency: [] };

    it("is counted when it is settled, once, in all that it was made against", async () => {
      const ledger = await open("one", { acceptEmpty: true });
      await ledger.reserve({ id: "lost", ...asked });
      await rollBack();
      assert.equal(await ledger.settle("lost", spent(400n)), "deferred");
      await waitFor("it to be counted", () => ledger.undeliveredCount === 0);
      assert.equal(await ledger.settle("lost", spent(400n)), "unknown");
      assert.deepEqual(await sums(ledger, quota.counter), [400n, 0n]);
      assert.deepEqual(await sums(ledger, balance.counter), [400n, 0n]);
      assert.equal(ledger.counts.forgotten, 1);
    });

    it("is counted by the next process, where its settlement waited on the disk", async () => {
      const ledger = await open("one", { acceptEmpty: true });
      await ledger.reserve({ id: "lost", ...asked });
      await server.end();
      await waitFor("the loss to be seen", () => ledger.storeState.kind === "failing");
      assert.equal(await ledger.settle("lost", spent(400n)), "deferred");
      await ledger.close();
      await server.start();
      await rollBack();
      const next = await open("one");
      await waitFor("it to be counted", () => next.undeliveredCount === 0);
      assert.deepEqual(await sums(next, quota.counter), [400n, 0n]);
      assert.deepEqual(await sums(next, balance.counter), [400n, 0n]);
    });

    it("is given up and counted as lost when its settlement is so old that it may have been counted", async () => {
      const used = { requests: 1, inputTokens: 0, outputTokens: 0, costNanos: 5 };
      const line = (id: string, days: number): string =>
        JSON.stringify({
          id,
          used,
          atMs: Date.now() - days * 86_400_000,
          limits: [],
          balances: [{ counter: balance.counter }],
        });
      mkdirSync(join(folder, "one"));
      writeFileSync(join(folder, "one", "undelivered-old.jsonl"), `${line("old~", 8)}\n${line("new~", 6)}\n`);
      const ledger = await open("one", { acceptEmpty: true });
      await waitFor("both to be done with", () => ledger.undeliveredCount === 0);
      assert.deepEqual(await sums(ledger, balance.counter), [5n, 0n]);
      assert.equal(ledger.shared.lost, 1);
      const knownMs = await server.admin.pttl("{tollgate}:r:new~");
      assert.ok(knownMs > 7 * 86_400_000, "known for longer than it is sent");
    });

    it("holds nothing when it arrives after its own settlement", async () => {
      const ledger = await open("one", { acceptEmpty: true });
      assert.equal(await ledger.settle("overtaken", spent(0n)), "unknown");
      assert.equal(await ask(ledger, 500n, { id: "overtaken" }), "store-unavailable");
      assert.deepEqual(await sums(ledger, quota.counter), [undefined, undefined]);
    });
  });

  describe("a store that was silent", () => {
    it("gives nothing back that runs, and a settlement passes no ceiling", async () => {
      const ttl = { reservationTtlMs: 800 };
      const a = await open("a", { acceptEmpty: true, decisionTimeoutMs: 60, ...ttl });
      const b = await open("b", ttl);
      const id = await waitFor("a place", async () => {
        const result = await a.reserve({
          id: "runs",
          amounts: spent(1_000n),
          limits: [quota],
          balances: [],
          concurrency: [],
        });
        return result.kind === "reserved" && result.id;
      });
      const heartbeat = setInterval(() => a.touch(id), 100);
      try {
        server.pause();
        const pausedMs = performance.now();
        await waitFor("the time to live to pass", () => performance.now() - pausedMs > 1_200);
        server.resume();
        for (const ledger of [b, a]) await waitFor("it to be usable", () => ledger.storeState.kind === "usable");
        assert.equal(await ask(b, 1_000n), "quota");
        const backMs = performance.now();
        await waitFor("another time to live to pass", async () => {
          assert.equal(await ask(b, 1_000n), "quota");
          return performance.now() - backMs > 1_200;
        });
        assert.equal(await a.settle(id, spent(1_000n)), "settled");
        assert.deepEqual(await sums(b, quota.counter), [1_000n, 0n]);
        assert.equal(b.counts.expired + a.counts.expired, 0);
      } finally {
        clearInterval(heartbeat);
      }
    });

    for (const everyMs of [35_000, 50_000, 70_000, 130_000, 3_600_000])
      it(`gives back what nobody renews, also where it is asked once in ${everyMs} ms`, async () => {
        const clock = { nowMs: Date.UTC(2041, 0, 1) };
        const pass = async (ms: number): Promise<void> => {
          clock.nowMs += ms;
          await server.admin.set("{tollgate}:clock", String(clock.nowMs));
        };
        await pass(0);
        const ledger = await open("one", { acceptEmpty: true, script: scriptByKey, now: () => clock.nowMs });
        assert.equal(await ask(ledger, 1_000n), "reserved");
        const pending: bigint[] = [];
        for (let index = 0; index < 8; index += 1) {
          await pass(everyMs);
          pending.push((await ledger.read(quota.counter))?.pending ?? -1n);
        }
        const held = pending.filter((sum) => sum === 1_000n).length * everyMs;
        assert.ok(held >= 60_000, "no sooner than the time to live");
        assert.ok(held <= Math.max(5 * 60_000, everyMs), "and soon after it");
        assert.equal(pending[7], 0n);
      });
  });

  describe("counters of deleted objects", () => {
    const lifetime = { counter: "key/ns/a/ever", limit: { ...limit, period: "Lifetime" } as const };
    const balance = { counter: "account/ns/a", grantedNanos: 10n ** 12n };
    const concurrency = { counter: "key/ns/a", maxInFlight: 3 };
    const endless = [lifetime.counter, balance.counter, concurrency.counter];
    const month = 30 * 86_400_000;

    const ttlsOf = (names: readonly string[]): Promise<number[]> =>
      Promise.all(names.map((name) => server.admin.pttl(keyOf(name))));

    async function sweep(ledger: RedisLedger, isLive: (counter: string) => boolean): Promise<void> {
      await server.admin.del("{tollgate}:sweep");
      for (const _ of ledger.sweep(isLive, 100));
      await waitFor("it to begin", async () => (await server.admin.exists("{tollgate}:sweep")) === 1);
    }

    it("are kept for 30 days, for good where the object is back, and those of others for ever", async () => {
      const ledger = await open("one", { acceptEmpty: true });
      const kept = { counter: "key/ns/b/ever", limit: lifetime.limit };
      const request = { id: "r", amounts: spent(5n), limits: [lifetime, kept, quota], balances: [balance] };
      const hour = { counter: "key/ns/a/bucket", limit: bucket };
      await ledger.reserve({ ...request, limits: [...request.limits, hour], concurrency: [concurrency] });
      await ledger.settle("r", spent(5n));
      const [quotaMs = 0, hourMs = 0] = await ttlsOf([quota.counter, hour.counter]);
      assert.ok(quotaMs > 86_400_000 && quotaMs < 34 * 86_400_000, "a window ends by itself");
      assert.ok(hourMs > 86_400_000 && hourMs < 3 * 86_400_000, "a bucket that is full as well");
      assert.deepEqual(await ttlsOf(endless), [-1, -1, -1]);

      await sweep(ledger, (counter) => counter === kept.counter);
      await waitFor("all to be marked", async () =>
        (await ttlsOf(endless)).every((ms) => ms > month - 60_000 && ms <= month),
      );
      assert.deepEqual(await ttlsOf([kept.counter]), [-1]);
      const [laterMs = 0] = await ttlsOf([quota.counter]);
      assert.ok(laterMs > 0 && laterMs <= quotaMs, "what ends by itself ends no later");
      assert.deepEqual(await sums(ledger, balance.counter), [5n, 0n]);

      await sweep(ledger, () => true);
      await waitFor("all to be kept", async () => (await ttlsOf(endless)).every((ms) => ms === -1));
      const [againMs = 0] = await ttlsOf([quota.counter]);
      assert.ok(againMs > 0);
    });

    it("are looked for by one of all proxies, among more than fit into a page", async () => {
      const ledgers = [await open("a", { acceptEmpty: true }), await open("b")] as const;
      const names = Array.from({ length: 1_000 }, (_, index) => `account/ns/${index}`);
      for (const counter of names)
        await ask(ledgers[0], 1n, { limits: [], balances: [{ counter, grantedNanos: 100n }] });
      await server.admin.set("{tollgate}:sweep", "s");
      for (const _ of ledgers[1].sweep(() => false, 100));
      await ledgers[1].read("asked after it");
      assert.equal((await ttlsOf(names)).filter((ms) => ms !== -1).length, 0);
      await sweep(ledgers[0], () => false);
      await waitFor("all to be marked", async () => (await ttlsOf(names)).every((ms) => ms > 0));
    });
  });

  describe("a counter that is none any more", () => {
    const other = { counter: "key/ns/b/other", limit };

    it("keeps nothing from the others when its reservation expires, and is passed over once", async () => {
      const ledger = await open("one", { acceptEmpty: true, reservationTtlMs: 300 });
      assert.equal(await ask(ledger, 10n, { limits: [quota, other] }), "reserved");
      await server.admin.set(keyOf(quota.counter), "text");
      await waitFor("the rest to be given back", async () => (await ledger.read(other.counter))?.pending === 0n);
      assert.equal(await ask(ledger, 10n, { limits: [other] }), "reserved");
      assert.equal(ledger.counts.broken, 1);
      assert.match(messages.join("\n"), /counters that are none any more/);
    });

    it("lets its reservation be settled once in the others", async () => {
      const ledger = await open("one", { acceptEmpty: true });
      const request = { id: "half", amounts: spent(10n), limits: [other, quota], balances: [], concurrency: [] };
      await ledger.reserve(request);
      await server.admin.set(keyOf(quota.counter), "text");
      assert.equal(await ledger.settle("half", spent(7n)), "settled");
      assert.equal(await ledger.settle("half", spent(7n)), "repeated");
      assert.deepEqual(await sums(ledger, other.counter), [7n, 0n]);
      assert.equal(ledger.undeliveredCount, 0);
    });

    for (const row of [
      { name: "pending", field: "Cp", limit },
      { name: "headroom", field: "Ch", limit },
      { name: "generation", field: "Cg", limit },
      { name: "headroom, of an edited limit", field: "Ch", limit: { ...limit, limit: "2000" } },
      { name: "level", field: "cl", limit: bucket },
      { name: "remainder", field: "cr", limit: bucket },
      { name: "pending, of a bucket", field: "cp", limit: bucket },
    ] as const) {
      it(`a field that is no number (${row.name}) lets no part of a reservation be held`, async () => {
        const ledger = await open("one", { acceptEmpty: true });
        const damaged = { counter: "key/ns/a/damaged", limit: row.field.startsWith("c") ? bucket : limit };
        assert.equal(await ask(ledger, 10n, { limits: [other, damaged] }), "reserved");
        if (row.field === "Cg") await server.admin.hdel(keyOf(damaged.counter), row.field);
        else await server.admin.hset(keyOf(damaged.counter), row.field, "garbage");
        const edited = { ...damaged, limit: row.limit };
        assert.equal(await ask(ledger, 10n, { limits: [other, edited] }), "store-unavailable");
        await waitFor("the doubt to be settled", () => ledger.undeliveredCount === 0);
        assert.deepEqual(await sums(ledger, other.counter), [0n, 10n]);
        const kept = await server.admin.hget(keyOf(damaged.counter), row.field.startsWith("c") ? "cp" : "Cp");
        assert.ok(kept === "10" || kept === "garbage", String(kept));
      });
    }
  });
});
