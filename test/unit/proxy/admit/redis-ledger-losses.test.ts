/** What the shared ledger does where the store has lost something, or holds what is not the ledger's. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Amounts, ReserveRequest } from "#proxy/admit/ledger";
import type { RedisLedger, RedisLedgerOptions } from "#proxy/admit/redis-ledger";
import type { Limit } from "#proxy/snapshot/types.gen";
import { openRedisLedger } from "#test/support/redis/redis-ledger";
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
      onStoreState: ({ kind, message }) => messages.push(`${kind}: ${message}`),
      onProblem: (message) => messages.push(message),
      ...options,
    });
    opened.push(close);
    return ledger;
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
  });
});
