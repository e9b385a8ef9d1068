import assert from "node:assert/strict";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EmbeddedLedger, type EmbeddedLedgerOptions, type StoreState } from "#proxy/admit/embedded-ledger";
import type { Amounts, ReserveRequest } from "#proxy/admit/ledger";
import { EmbeddedStore } from "#proxy/admit/store/embedded-store";
import type { Limit } from "#proxy/snapshot/types.gen";
import { ttlMs } from "#test/support/ledger-commands";

const startMs = Date.UTC(2026, 0, 15, 12);

function spent(costNanos: bigint): Amounts {
  return { requests: 1n, inputTokens: 0n, outputTokens: costNanos, costNanos };
}

function limitOf(partial: Partial<Limit>): Limit {
  const defaults = {
    name: "l",
    unit: "OutputTokens",
    limit: "1000",
    period: "Day",
    algorithm: "FixedWindow",
    mode: "Enforce",
  } as const;
  return { ...defaults, ...partial };
}

describe("EmbeddedLedger", function () {
  this.timeout(20_000);
  const opened: EmbeddedLedger[] = [];
  let folder: string;
  let clock: { nowMs: number };
  let states: StoreState[];
  let nextId = 0;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "tollgate-ledger-"));
    clock = { nowMs: startMs };
    states = [];
  });
  afterEach(async () => {
    for (const ledger of opened.splice(0)) await ledger.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function open(options: Partial<EmbeddedLedgerOptions> = {}): Promise<EmbeddedLedger> {
    const onStoreState = (state: StoreState): void => void states.push(state);
    const ledger = await EmbeddedLedger.open({
      now: () => clock.nowMs,
      monotonicNow: () => clock.nowMs,
      reservationTtlMs: ttlMs,
      folder,
      onStoreState,
      ...options,
    });
    opened.push(ledger);
    return ledger;
  }

  const quota = { counter: "key/ns/a/quota", limit: limitOf({ name: "quota" }) };
  const bucket = {
    counter: "key/ns/a/bucket",
    limit: limitOf({ name: "bucket", period: "Hour", algorithm: "TokenBucket" }),
  };
  const balance = { counter: "account/ns/a", grantedNanos: 10n ** 19n };

  function request(amounts: Amounts, partial: Partial<ReserveRequest> = {}): ReserveRequest {
    return { id: `r${nextId++}`, amounts, limits: [quota, bucket], balances: [balance], concurrency: [], ...partial };
  }

  function spend(ledger: EmbeddedLedger, amounts: Amounts, partial: Partial<ReserveRequest> = {}): void {
    const result = ledger.reserve(request(amounts, partial));
    assert.ok(result.kind === "reserved");
    assert.equal(ledger.settle(result.id, amounts), "settled");
  }

  /** Waits until a batch after the present moment has reached the write-ahead log. */
  async function untilWritten(): Promise<void> {
    const path = join(folder, "ledger.sqlite-wal");
    const size = statSync(path).size;
    await until(() => statSync(path).size > size);
  }

  async function until(isTrue: () => boolean): Promise<void> {
    const deadlineMs = performance.now() + 10_000;
    while (!isTrue()) {
      assert.ok(performance.now() < deadlineMs, "not in time");
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }

  it("knows after a restart what was spent before, of every kind of counter", async () => {
    const before = await open();
    for (let index = 0; index < 50; index += 1) spend(before, spent(10n));
    await before.close();
    const after = await open();
    assert.equal(after.read(quota.counter)?.posted, 500n);
    assert.equal(after.read(balance.counter)?.posted, 500n);
    spend(after, spent(100n));
    assert.equal(after.read(quota.counter)?.posted, 600n);
    assert.equal(after.read(bucket.counter)?.posted, 600n);
    assert.equal(after.reserve(request(spent(401n))).kind, "refused");
  });

  it("keeps sums beyond 2^53 through restarts, and newer sums win over older ones", async () => {
    const large = 2n ** 53n - 1n;
    const only = { limits: [], balances: [balance] };
    const before = await open();
    spend(before, spent(7n), only);
    await untilWritten();
    spend(before, spent(5n), only);
    await before.close();
    const middle = await open();
    for (let index = 0; index < 3; index += 1) spend(middle, spent(large), only);
    await middle.close();
    const after = await open();
    assert.equal(after.read(balance.counter)?.posted, 12n + 3n * large);
  });

  it("starts a new window after a restart in a later one", async () => {
    const before = await open();
    spend(before, spent(900n));
    await before.close();
    clock.nowMs += 86_400_000;
    const after = await open();
    spend(after, spent(900n));
    assert.equal(after.read(quota.counter)?.posted, 900n);
    assert.equal(after.read(balance.counter)?.posted, 1_800n);
  });

  it("counts an edited limit anew on disk too", async () => {
    const before = await open();
    spend(before, spent(900n));
    const edited = { counter: quota.counter, limit: limitOf({ name: "quota", unit: "Requests" }) };
    await untilWritten();
    spend(before, spent(1n), { limits: [edited] });
    await before.close();
    const after = await open();
    spend(after, spent(1n), { limits: [edited] });
    assert.equal(after.read(quota.counter)?.posted, 2n);
  });

  for (const row of [
    { name: "its period is shorter", before: { period: "Month" }, after: { period: "Day" }, isOver: false },
    { name: "its day begins later", before: { timeZone: "Asia/Tokyo" }, after: { timeZone: "UTC" }, isOver: false },
    { name: "nothing was edited", before: {}, after: {}, isOver: true },
  ] as const) {
    it(`grants ${row.isOver ? "a day that began" : "nothing anew"} between two runs where ${row.name}`, async () => {
      clock.nowMs = Date.UTC(2026, 10, 24, 12);
      const claimOf = (edit: Partial<Limit>): ReserveRequest["limits"] => [
        { counter: quota.counter, limit: limitOf({ name: "quota", period: "Day", ...edit }) },
      ];
      const before = await open();
      spend(before, spent(900n), { limits: claimOf(row.before) });
      await before.close();
      if (row.isOver) clock.nowMs += 86_400_000;
      const after = await open();
      spend(after, spent(1n), { limits: claimOf(row.after) });
      assert.equal(after.read(quota.counter)?.posted, row.isOver ? 1n : 901n);
    });
  }

  it("folds a long journal without losing a change", async () => {
    const before = await open({ flushDelayMs: 1 });
    const many = Array.from({ length: 3_000 }, (_, index) => ({
      counter: `key/ns/k${index}/quota`,
      limit: quota.limit,
    }));
    for (let round = 0; round < 20; round += 1) {
      for (const claim of many) spend(before, spent(1n), { limits: [claim], balances: [] });
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    await before.close();
    const after = await open();
    for (const { counter } of many) assert.equal(after.read(counter)?.posted, 20n, counter);
  });

  it("writes a batch that is larger than the memory shared with its thread", async () => {
    const before = await open();
    const many = Array.from({ length: 10_000 }, (_, index) => ({
      counter: `key/ns/k${index}/quota`,
      limit: quota.limit,
    }));
    for (let round = 1; round <= 3; round += 1) {
      for (const claim of many) spend(before, spent(1n), { limits: [claim], balances: [] });
      if (round < 3) await untilWritten();
    }
    await before.close();
    const after = await open();
    for (const { counter } of many) assert.equal(after.read(counter)?.posted, 3n, counter);
  });

  it("refuses a second process on the same folder, by name", async () => {
    await open();
    await assert.rejects(open(), /another process is using .*ledger\.sqlite/);
  });

  it("lets nobody else read its files", async () => {
    spend(await open(), spent(1n));
    await untilWritten();
    for (const name of ["ledger.sqlite", "ledger.sqlite-wal", "ledger.epoch"]) {
      assert.equal(statSync(join(folder, name)).mode & 0o777, 0o600, name);
    }
  });

  for (const row of [
    { name: "was deleted", harm: (path: string) => rmSync(path), message: /is empty/ },
    { name: "was replaced by an empty file", harm: (path: string) => writeFileSync(path, ""), message: /is empty/ },
    {
      name: "is damaged",
      harm: (path: string) => writeFileSync(path, "not a database ".repeat(100)),
      message: /damaged/,
    },
  ]) {
    it(`closes quotas and balances, never rates, when the store ${row.name}, until that is accepted`, async () => {
      const before = await open();
      spend(before, spent(1n));
      await before.close();
      row.harm(join(folder, "ledger.sqlite"));
      rmSync(join(folder, "ledger.sqlite-wal"), { force: true });
      const closed = await open();
      assert.equal(closed.storeState.kind, "lost");
      assert.match(closed.storeState.message, row.message);
      const refused = closed.reserve(request(spent(1n)));
      assert.ok(refused.kind === "refused" && refused.reason === "store-unavailable");
      assert.equal(closed.reserve(request(spent(1n), { limits: [quota], balances: [] })).kind, "refused");
      assert.equal(closed.reserve(request(spent(1n), { limits: [bucket], balances: [] })).kind, "reserved");
      if (row.name === "is damaged") {
        await closed.close();
        const accepted = await open({ acceptEmpty: true });
        spend(accepted, spent(1n));
        return;
      }
      closed.acceptEmpty();
      await until(() => closed.storeState.kind === "writing");
      spend(closed, spent(1n));
      await closed.close();
      assert.equal((await open()).read(balance.counter)?.posted, 1n);
    });
  }

  for (const row of [
    { name: "folder", remove: () => rmSync(folder, { recursive: true }) },
    { name: "database alone", remove: () => rmSync(join(folder, "ledger.sqlite")) },
  ]) {
    it(`writes all that is counted into a new store when its ${row.name} is deleted while it runs`, async () => {
      const before = await open();
      spend(before, spent(900n));
      await untilWritten();
      row.remove();
      await until(() => states.length >= 2);
      assert.deepEqual(
        states.map(({ kind }) => kind),
        ["failing", "writing"],
      );
      assert.match(
        states[0]?.message ?? "",
        /ledger\.sqlite was deleted while in use; .* only while its proxy is stopped/,
      );
      spend(before, spent(50n));
      await before.close();
      const after = await open();
      assert.equal(after.storeState.kind, "writing");
      assert.equal(after.read(quota.counter)?.posted, 950n);
      assert.equal(after.read(balance.counter)?.posted, 950n);
      assert.equal(after.reserve(request(spent(51n))).kind, "refused");
    });
  }

  it("leaves alone what replaced its store, and refuses until that is gone", async () => {
    const ledger = await open();
    spend(ledger, spent(900n));
    await untilWritten();
    const path = join(folder, "ledger.sqlite");
    writeFileSync(`${path}.new`, "from elsewhere");
    renameSync(`${path}.new`, path);
    await until(() => ledger.storeState.kind === "lost");
    assert.match(ledger.storeState.message, /replaced by another file .* restart the proxy .* or remove it/);
    assert.equal(ledger.reserve(request(spent(1n))).kind, "refused");
    assert.equal(readFileSync(path, "utf8"), "from elsewhere");
    rmSync(path);
    await until(() => ledger.storeState.kind === "writing");
    await ledger.close();
    assert.equal((await open()).read(quota.counter)?.posted, 900n);
  });

  it("counts nothing as spent by nobody when it ends before a new store has got what was counted", async () => {
    EmbeddedStore.recreate(folder).close();
    assert.match((await open()).storeState.message, /is empty/);
  });

  it("takes a damaged page for a lost history, wherever it is, and keeps the file when that is accepted", async () => {
    const many = Array.from({ length: 400 }, (_, index) => ({
      ...balance,
      counter: `account/ns/a-long-name-${index}`,
    }));
    const before = await open();
    for (const claim of many) spend(before, spent(1n), { limits: [], balances: [claim] });
    await before.close();
    const path = join(folder, "ledger.sqlite");
    const epoch = readFileSync(join(folder, "ledger.epoch"));
    const whole = readFileSync(path);
    let lost = 0;
    for (let at = 4_096; at < whole.length; at += 4_096) {
      writeFileSync(path, Buffer.from(whole).fill(0xff, at, at + 4_096));
      writeFileSync(join(folder, "ledger.epoch"), epoch);
      const ledger = await open();
      if (ledger.storeState.kind === "writing") {
        // Nothing stood on that page.
        for (const { counter } of many) assert.equal(ledger.read(counter)?.posted, 1n, `${counter} with ${at} damaged`);
        await ledger.close();
        continue;
      }
      lost += 1;
      assert.match(ledger.storeState.message, /damaged/);
      assert.equal(ledger.reserve(request(spent(1n))).kind, "refused");
      assert.equal(ledger.reserve(request(spent(1n), { limits: [bucket], balances: [] })).kind, "reserved");
      await ledger.close();
      const accepted = await open({ acceptEmpty: true });
      assert.equal(accepted.storeState.kind, "writing");
      spend(accepted, spent(1n));
      await accepted.close();
      const aside = readdirSync(folder).find((name) => /^ledger\.sqlite\.damaged-[\w-]{36}$/.test(name));
      assert.ok(aside !== undefined);
      rmSync(join(folder, aside));
    }
    assert.ok(lost >= 5, `${lost} of ${whole.length / 4_096} pages`);
  });

  it("takes a database whose epoch file is missing: nothing was lost", async () => {
    const before = await open();
    spend(before, spent(3n));
    await before.close();
    rmSync(join(folder, "ledger.epoch"));
    const after = await open();
    assert.equal(after.storeState.kind, "writing");
    assert.equal(after.read(balance.counter)?.posted, 3n);
    assert.ok(existsSync(join(folder, "ledger.epoch")));
  });

  it("refuses the database of another epoch", async () => {
    await (await open()).close();
    writeFileSync(join(folder, "ledger.epoch"), "another\n");
    assert.match((await open()).storeState.message, /another epoch/);
  });
});
