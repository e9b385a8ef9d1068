/** What a shared store does to the ledger when it fails, and what two processes make of it together. */
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Amounts, Refusal, Reservation, ReserveRequest } from "#proxy/admit/ledger";
import type { RedisLedger, RedisLedgerOptions } from "#proxy/admit/redis/redis-ledger";
import type { Limit } from "#proxy/snapshot/types.gen";
import { openRedisLedger } from "#test/support/redis/redis-ledger";
import { needRedis, type RedisServer, startRedis } from "#test/support/redis/redis-server";
import { waitFor } from "#test/support/wait-for";

const one: Amounts = { requests: 1n, inputTokens: 0n, outputTokens: 0n, costNanos: 10n };
/** A decision takes 60 ms at most; the rest is for a machine that runs other tests meanwhile. */
const decisionMs = 60 + 60;

const limitOf = (more: Partial<Limit> = {}): Limit => ({
  name: "l",
  unit: "Cost",
  limit: "1000",
  period: "Lifetime",
  algorithm: "FixedWindow",
  mode: "Enforce",
  ...more,
});
const quota = { counter: "key/ns/a/quota", limit: limitOf() };
const rate = { counter: "key/ns/a/rate", limit: limitOf({ unit: "Requests", limit: "1000000", period: "Hour" }) };
const balance = { counter: "account/ns/a", grantedNanos: 10n ** 12n };

describe("RedisLedger", function () {
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
    folder = mkdtempSync(join(tmpdir(), "tollgate-redis-ledger-"));
    await server.admin.set("{tollgate}:epoch", "of a store in use");
    messages = [];
  });
  afterEach(async () => {
    server.resume();
    for (const close of opened.splice(0)) await close();
    opened = [];
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function open(options: Partial<RedisLedgerOptions> = {}): Promise<RedisLedger> {
    const { ledger, close } = await openRedisLedger(server, {
      folder,
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

  function request(more: Partial<ReserveRequest> = {}): ReserveRequest {
    return { id: `r${nextId++}`, amounts: one, limits: [quota], balances: [balance], concurrency: [], ...more };
  }

  const ask = async (ledger: RedisLedger, more: Partial<ReserveRequest> = {}): Promise<Reservation | Refusal> =>
    await ledger.reserve(request(more));

  async function timed(ledger: RedisLedger, more: Partial<ReserveRequest> = {}): Promise<Reservation | Refusal> {
    const startedMs = performance.now();
    const result = await ledger.reserve(request(more));
    const tookMs = performance.now() - startedMs;
    assert.ok(tookMs < decisionMs, `a decision took ${Math.round(tookMs)} ms`);
    return result;
  }

  const untilUsable = (ledger: RedisLedger): Promise<unknown> =>
    waitFor("the store to be usable", () => ledger.storeState.kind === "usable");

  async function scriptRuns(): Promise<number> {
    const stats = await server.admin.info("commandstats");
    return Number(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1] ?? 0);
  }

  it("admits exactly what fits over several ledgers, and asks the store once for calls that come together", async () => {
    const ledgers = await Promise.all(["a", "b", "c"].map((name) => open({ name })));
    const before = await scriptRuns();
    const results = await Promise.all(
      Array.from({ length: 300 }, (_, index) => ledgers[index % 3]?.reserve(request())),
    );
    assert.equal(results.filter((result) => result?.kind === "reserved").length, 100);
    const runs = (await scriptRuns()) - before;
    assert.ok(runs <= 6, `${runs} runs for 300 decisions`);
    const reading = await ledgers[0]?.read(quota.counter);
    assert.deepEqual([reading?.posted, reading?.pending], [0n, 1_000n]);
  });

  it("has no refusal for what has room, and holds nothing after calls that failed", async () => {
    const ledgers = [await open({ name: "a" }), await open({ name: "b" })] as const;
    const wide = [{ ...rate, limit: limitOf({ limit: "1000000000000" }) }];
    let posted = 0n;
    for (let round = 0; round < 50; round += 1) {
      const outcomes = Array.from({ length: 100 }, async (_, index) => {
        const ledger = ledgers[index % 2] ?? ledgers[0];
        const result = await ledger.reserve(request({ limits: wide }));
        assert.equal(result.kind, "reserved");
        const isFailed = index % 10 < 3;
        if (!isFailed) posted += one.costNanos;
        if (result.kind === "reserved") await ledger.settle(result.id, isFailed ? { ...one, costNanos: 0n } : one);
      });
      await Promise.all(outcomes);
    }
    for (const counter of [rate.counter, balance.counter]) {
      const reading = await ledgers[0].read(counter);
      assert.deepEqual([reading?.posted, reading?.pending], [posted, 0n], counter);
    }
    assert.equal(await server.admin.zcard("{tollgate}:due"), 0);
  });

  it("goes on after the store has forgotten its scripts", async () => {
    const ledger = await open();
    assert.equal((await ask(ledger)).kind, "reserved");
    await server.admin.script("FLUSH");
    assert.equal((await ask(ledger)).kind, "reserved");
    assert.equal((await ledger.read(quota.counter))?.pending, 20n);
  });

  it("gives back what a process held that is gone, after the time to live and no sooner", async () => {
    const gone = await open({ name: "gone", reservationTtlMs: 400 });
    const startedMs = performance.now();
    await gone.reserve(request({ concurrency: [{ counter: "key/ns/a", maxInFlight: 1 }] }));
    await gone.close();
    const other = await open({ name: "other", reservationTtlMs: 400 });
    assert.equal((await other.read(quota.counter))?.pending, 10n);
    await waitFor("nothing to be pending", async () => (await other.read(quota.counter))?.pending === 0n);
    const tookMs = performance.now() - startedMs;
    assert.ok(tookMs >= 390 && tookMs < 2_000, `${Math.round(tookMs)} ms`);
    assert.equal((await other.read("key/ns/a"))?.pending, 0n);
    assert.equal(other.counts.expired, 1);
  });

  it("does not start on a store that may forget counters", async () => {
    await server.admin.config("SET", "maxmemory-policy", "allkeys-lru");
    await assert.rejects(open(), /may forget counters: its maxmemory-policy is allkeys-lru and must be noeviction/);
  });

  for (const row of [
    {
      name: "hangs",
      harm: () => server.pause(),
      heal: () => server.resume(),
      message: /did not answer in time|not answer/,
    },
    {
      name: "is full",
      harm: () => server.admin.config("SET", "maxmemory", "1"),
      heal: () => server.admin.config("SET", "maxmemory", "0"),
      message: /OOM/,
    },
    {
      name: "has become a replica",
      harm: () => server.admin.replicaof("127.0.0.1", 1),
      heal: () => server.admin.replicaof("NO", "ONE"),
      message: /READONLY|is a slave/,
    },
  ] as const) {
    it(`a store that ${row.name}: balances closed, rates open, nobody waits, and nothing is lost`, async () => {
      const ledger = await open({ decisionTimeoutMs: 60 });
      const held = await waitFor("a place", async () => {
        const result = await ask(ledger);
        return result.kind === "reserved" && result.id;
      });
      await row.harm();
      for (let index = 0; index < 8; index += 1) {
        const refused = await timed(ledger);
        assert.ok(refused.kind === "refused" && refused.reason === "store-unavailable");
        const admitted = await timed(ledger, { id: `rate-${index}`, limits: [rate], balances: [] });
        assert.equal(admitted.kind, "reserved");
      }
      assert.equal(await ledger.settle(held, { ...one, costNanos: 7n }), "deferred");
      for (let index = 0; index < 8; index += 1) assert.equal(await ledger.settle(`rate-${index}`, one), "deferred");
      await row.heal();
      await untilUsable(ledger);
      await waitFor("all to be delivered", () => ledger.undeliveredCount === 0);
      const reading = await ledger.read(quota.counter);
      assert.deepEqual([reading?.posted, reading?.pending], [7n, 0n]);
      assert.equal((await ledger.read(balance.counter))?.posted, 7n);
      assert.equal((await ledger.read(rate.counter))?.posted, 8n);
      await waitFor("balances to be open", async () => (await ask(ledger)).kind === "reserved");
      assert.match(messages.join("\n"), row.message);
    });
  }

  it("a store that is gone refuses at once, also with Closed what is a rate, and is used again within a second", async () => {
    const ledger = await open({ failureMode: "Closed" });
    await ask(ledger);
    await server.end("SIGTERM");
    await waitFor("the loss to be seen", () => ledger.storeState.kind === "failing");
    for (let index = 0; index < 100; index += 1) {
      const startedMs = performance.now();
      const refused = await ledger.reserve(request({ limits: [rate], balances: [] }));
      assert.ok(performance.now() - startedMs < 20);
      assert.equal(refused.kind === "refused" && refused.reason, "store-unavailable");
    }
    await server.start();
    const backMs = performance.now();
    await untilUsable(ledger);
    assert.ok(performance.now() - backMs < 1_000);
    assert.equal((await ledger.read(quota.counter))?.pending, 10n, "nothing was forgotten");
  });

  it("takes a store that came back empty for a lost history, until that is accepted", async () => {
    const ledger = await open();
    assert.equal((await ask(ledger)).kind, "reserved");
    await server.admin.flushall();
    const first = await ask(ledger);
    assert.equal(first.kind === "refused" && first.reason, "store-unavailable");
    await waitFor("the loss to be told", () => /empty where it used to hold counters/.test(messages.join("\n")));
    assert.equal(ledger.storeState.kind, "lost");
    assert.equal((await ask(ledger, { limits: [rate], balances: [] })).kind, "reserved");
    await ledger.close();
    const closed = await open();
    assert.equal(closed.storeState.kind, "lost");
    assert.equal((await ask(closed)).kind, "refused");
    await closed.close();
    const accepted = await open({ acceptEmpty: true });
    assert.equal((await ask(accepted)).kind, "reserved");
    await accepted.close();
    assert.equal((await open()).storeState.kind, "usable");
  });

  it("takes another store for one of another history", async () => {
    await (await open()).close();
    writeFileSync(join(folder, "redis.epoch"), "another\n");
    const ledger = await open();
    assert.equal(ledger.storeState.kind, "lost");
    assert.match(messages.join("\n"), /another history/);
  });

  it("a key of another type refuses what counts there, and nothing else", async () => {
    const ledger = await open();
    await server.admin.set(`{tollgate}:c:${quota.counter}`, "text");
    const refused = await ask(ledger);
    assert.equal(refused.kind === "refused" && refused.reason, "store-unavailable");
    assert.match(messages.join("\n"), /WRONGTYPE/);
    assert.equal(ledger.storeState.kind, "usable");
    assert.equal((await ask(ledger, { limits: [] })).kind, "reserved");
    assert.equal((await ledger.read(balance.counter))?.pending, 10n, "no part of the refused one is held");
  });

  it("tells no password where it is wrong", async () => {
    await server.admin.config("SET", "requirepass", "right");
    const url = server.url.replace("//", "//:topsecret@");
    const ledger = await open({ address: { url } });
    await waitFor("the refusal to be told", () => /failing: .*(WRONGPASS|NOAUTH)/.test(messages.join("\n")));
    assert.equal((await ask(ledger)).kind, "refused");
    assert.doesNotMatch(messages.join("\n"), /topsecret/);
    await server.admin.config("SET", "requirepass", "");
  });

  it("delivers what a process left on its disk, once, however often it is sent", async () => {
    const first = await open({ name: "first", decisionTimeoutMs: 60 });
    await first.reserve(request({ id: "left" }));
    server.pause();
    // Its checks fail as well.
    await waitFor("the store to be missed", async () => {
      await first.reserve(request());
      return first.storeState.kind === "failing";
    });
    assert.equal(await first.settle("left", { ...one, costNanos: 9n }), "deferred");
    await first.close();
    const [file = ""] = readdirSync(folder).filter((name) => name.startsWith("undelivered-"));
    const kept = readFileSync(join(folder, file));
    assert.match(kept.toString(), /"id":"left"/);
    server.resume();
    // A line that the end of the process cut.
    writeFileSync(join(folder, file), Buffer.concat([kept, Buffer.from('{"id":"cut')]));
    const second = await open({ name: "second" });
    await waitFor("it to be delivered", () => second.undeliveredCount === 0);
    assert.equal((await second.read(balance.counter))?.posted, 9n);
    await second.close();
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.startsWith("undelivered-")),
      [],
    );
    writeFileSync(join(folder, file), kept);
    const third = await open({ name: "third" });
    await waitFor("it to be delivered again", () => third.undeliveredCount === 0);
    const reading = await third.read(balance.counter);
    assert.deepEqual([reading?.posted, reading?.pending], [9n, 0n]);
  });
});
