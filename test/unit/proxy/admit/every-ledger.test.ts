import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EmbeddedLedger } from "#proxy/admit/embedded-ledger";
import { MemoryLedger } from "#proxy/admit/memory-ledger";
import { ttlMs } from "#test/support/ledger-commands";
import { describeLedger } from "#test/support/ledger-suite";
import { type LedgerOnStore, openRedisLedger, scriptByKey } from "#test/support/redis/redis-ledger";
import { needRedis, type RedisServer, startRedis } from "#test/support/redis/redis-server";

describeLedger({
  name: "in memory",
  histories: 1_000,
  open: async (clock) =>
    new MemoryLedger({ now: () => clock.nowMs, monotonicNow: () => clock.nowMs, reservationTtlMs: ttlMs }),
});

let folder = "";

describeLedger({
  name: "embedded, while it writes",
  histories: 300,
  open: (clock) => {
    folder = mkdtempSync(join(tmpdir(), "tollgate-ledger-"));
    const now = (): number => clock.nowMs;
    return EmbeddedLedger.open({ now, monotonicNow: now, reservationTtlMs: ttlMs, folder });
  },
  end: async () => rmSync(folder, { recursive: true, force: true }),
});

let server: RedisServer | undefined;
let onStore: LedgerOnStore | undefined;

describeLedger({
  name: "in Redis",
  histories: 300,
  prepare: async (context) => {
    needRedis(context);
    server = await startRedis();
  },
  open: async (clock) => {
    assert.ok(server !== undefined);
    const { admin } = server;
    await admin.set("{tollgate}:clock", String(clock.nowMs));
    const now = (): number => clock.nowMs;
    onStore = await openRedisLedger(server, {
      now,
      monotonicNow: now,
      script: scriptByKey,
      decisionTimeoutMs: 5_000,
    });
    const { ledger } = onStore;
    // The store reads the test's clock before each command.
    const inTime = async <T>(ask: () => T): Promise<Awaited<T>> => {
      // And it was asked all the time: after a silence nothing would expire.
      await admin.mset("{tollgate}:clock", String(clock.nowMs), "{tollgate}:seen", `${clock.nowMs} 0 0`);
      return await ask();
    };
    return {
      counts: ledger.counts,
      get openCount() {
        return ledger.openCount;
      },
      reserve: (request) => inTime(() => ledger.reserve(request)),
      settle: (id, actual) => inTime(() => ledger.settle(id, actual)),
      read: (counter) => inTime(() => ledger.read(counter)),
      touch: (id) => ledger.touch(id),
      sweep: (isLive, max) => ledger.sweep(isLive, max),
      close: () => ledger.close(),
    };
  },
  end: async () => {
    await onStore?.close();
    await server?.close();
  },
});
