import assert from "node:assert/strict";
import { MemoryLedger } from "#proxy/admit/memory-ledger";
import { parseUpMessage } from "#proxy/snapshot/push/parse-message";
import type { Key, Limit } from "#proxy/snapshot/types.gen";
import { KeyUses } from "#proxy/sync/key-uses";
import { usageReport } from "#proxy/sync/report-usage";
import { snapshotWith } from "#test/support/snapshot-of";
import { wireAccount, wireKey } from "#test/support/wire-objects";

const nowMs = Date.UTC(2026, 10, 21, 12);
const month: Limit = {
  name: "month",
  unit: "Cost",
  limit: "500",
  period: "Month",
  algorithm: "FixedWindow",
  mode: "Enforce",
};
const minute: Limit = { ...month, name: "minute", unit: "Requests", period: "Minute" };
const key: Key = wireKey("one", { account: "team", limits: [month, minute] });
const account = wireAccount("team", { creditNanos: "1000" });
const snapshot = snapshotWith(key, account);

async function spend(ledger: MemoryLedger, costNanos: bigint): Promise<void> {
  const amounts = { requests: 1n, inputTokens: 0n, outputTokens: 0n, costNanos };
  const limits = [{ counter: "key/team-a/one/month", limit: month }];
  const balances = [{ counter: "account/team-a/team", grantedNanos: 1_000n }];
  await ledger.reserve({ id: `r${costNanos}`, amounts, limits, balances, concurrency: [] });
  await ledger.settle(`r${costNanos}`, amounts);
}

const credentials = { ejected: () => [] };

describe("usageReport", () => {
  it("tells quotas and balances of the keys that were used, and no rates", async () => {
    let now = nowMs;
    const ledger = new MemoryLedger({ now: () => now, reservationTtlMs: 60_000, onShadowRefusal: () => {} });
    await spend(ledger, 120n);
    const uses = new KeyUses();
    uses.note(key, true, nowMs);
    uses.note(key, false, nowMs + 5);
    const report = await usageReport({ uses, credentials, ledger, pin: () => snapshot, now: () => now });
    const resetAt = Date.UTC(2026, 11, 1);
    assert.deepEqual(report, {
      type: "report",
      keys: [
        {
          key: "team-a/one",
          lastUsedAt: nowMs,
          requests: 2,
          quotas: [{ name: "month", unit: "Cost", isEnforced: true, used: "120", limit: "500", resetAt }],
        },
      ],
      accounts: [{ account: "team-a/team", consumed: "120", reserved: "0" }],
      ejected: [],
    });
    assert.deepEqual(parseUpMessage(JSON.parse(JSON.stringify(report))), report);
    assert.equal(await usageReport({ uses, credentials, ledger, pin: () => snapshot, now: () => now }), undefined);
    // In the next month the old count is worth nothing.
    now = resetAt + 1;
    uses.note(key, true, now);
    assert.equal(
      (await usageReport({ uses, credentials, ledger, pin: () => snapshot, now: () => now }))?.keys[0]?.quotas[0]?.used,
      "0",
    );
  });

  it("tells which credentials are refused, also where no key was used", async () => {
    const refused = [{ channel: "team-a/openai", credential: "main", reason: "FormerInUse" }];
    const report = await usageReport({
      uses: new KeyUses(),
      credentials: { ejected: () => refused },
      ledger: { read: () => undefined },
      pin: () => snapshot,
      now: () => nowMs,
    });
    assert.deepEqual(report, { type: "report", keys: [], accounts: [], ejected: refused });
    assert.deepEqual(parseUpMessage(JSON.parse(JSON.stringify(report))), report);
  });

  it("stays within what the operator reads, however many keys there are, and tells the rest next time", async () => {
    const uses = new KeyUses();
    const limits = Array.from({ length: 8 }, (_, index) => ({ ...month, name: `${"long".repeat(15)}-${index}` }));
    for (let index = 0; index < 20_000; index += 1) uses.note(wireKey(`key-${index}`, { limits }), true, index);
    const ledger = { read: () => undefined };
    let keys = 0;
    for (let round = 0; round < 12; round += 1) {
      const report = await usageReport({ uses, credentials, ledger, pin: () => snapshot, now: () => nowMs });
      const text = JSON.stringify(report ?? {});
      assert.ok(Buffer.byteLength(text) < 2 * 1024 * 1024, `${text.length} bytes`);
      keys += report?.keys.length ?? 0;
    }
    assert.equal(keys, 10_000);
  });

  it("tells later of the keys whose figures cannot be read now, and at once of all else", async () => {
    const uses = new KeyUses();
    const ejected = [{ channel: "team-a/openai", credential: "main", reason: "FormerInUse" }];
    const unlimited = wireKey("unlimited");
    uses.note(key, true, nowMs);
    uses.note(key, true, nowMs + 1);
    uses.note(unlimited, true, nowMs);
    let isAway = true;
    const ledger = {
      read: async () => {
        if (isAway) throw new Error("the store does not answer");
        return undefined;
      },
    };
    const options = { uses, credentials: { ejected: () => ejected }, ledger, pin: () => snapshot, now: () => nowMs };
    const first = await usageReport(options);
    assert.deepEqual(first?.keys, [{ key: "team-a/unlimited", lastUsedAt: nowMs, requests: 1, quotas: [] }]);
    assert.deepEqual(first?.ejected, ejected);
    uses.note(key, true, nowMs + 5);
    isAway = false;
    const second = await usageReport(options);
    assert.deepEqual(
      second?.keys.map(({ key: name, lastUsedAt, requests }) => [name, lastUsedAt, requests]),
      [["team-a/one", nowMs + 5, 3]],
    );
  });

  it("asks no more of a store that tells nothing, and little at once of one that does", async () => {
    const uses = new KeyUses();
    const keys = Array.from({ length: 200 }, (_, index) => wireKey(`key-${index}`, { limits: [month] }));
    for (const used of keys) uses.note(used, true, nowMs);
    let isAway = true;
    let reads = 0;
    let open = 0;
    let most = 0;
    const read = async (): Promise<undefined> => {
      reads += 1;
      open += 1;
      most = Math.max(most, open);
      await new Promise((resolve) => setImmediate(resolve));
      open -= 1;
      if (isAway) throw new Error("the store does not answer");
      return undefined;
    };
    const options = { uses, credentials, ledger: { read }, pin: () => snapshot, now: () => nowMs };
    assert.equal(await usageReport(options), undefined);
    assert.ok(reads < 20, `${reads} reads`);
    isAway = false;
    assert.equal((await usageReport(options))?.keys.length, 200);
    assert.ok(most < 20, `${most} at once`);
  });
});
