import assert from "node:assert/strict";
import { isUnfunded, UsageTracker } from "#operator/status/usage-tracker";
import type { QuotaReport, Report } from "#proxy/snapshot/push/messages";

const startMs = Date.UTC(2026, 10, 21, 12, 30);
const resetAt = Date.UTC(2026, 11, 1);

function quota(used: string, changes: Partial<QuotaReport> = {}): QuotaReport {
  return { name: "month", unit: "Cost", isEnforced: true, used, limit: "1000", resetAt, ...changes };
}

function report(name: string, quotas: readonly QuotaReport[], lastUsedAt = startMs): Report {
  return { type: "report", keys: [{ key: `a/${name}`, lastUsedAt, requests: 1, quotas }], accounts: [], ejected: [] };
}

describe("UsageTracker", () => {
  let nowMs: number;
  let tracker: UsageTracker;
  beforeEach(() => {
    nowMs = startMs;
    tracker = new UsageTracker({ now: () => nowMs });
  });

  it("shows numbers at most once a minute, and only what moved by a hundredth", () => {
    assert.deepEqual(tracker.acceptReport("p", report("one", [quota("100")])), []);
    assert.equal(tracker.shownOf("key/a/one"), undefined);
    assert.deepEqual(tracker.due(5), ["key/a/one"]);
    assert.equal(tracker.shownOf("key/a/one")?.quotas[0]?.used, "100");
    assert.equal(tracker.shownOf("key/a/one")?.lastUsedMs, Date.UTC(2026, 10, 21, 12));
    tracker.acceptReport("p", report("one", [quota("200")]));
    nowMs += 59_000;
    assert.deepEqual(tracker.due(5), []);
    nowMs += 1_000;
    assert.deepEqual(tracker.due(5), ["key/a/one"]);
    nowMs += 60_000;
    tracker.acceptReport("p", report("one", [quota("201")]));
    assert.deepEqual(tracker.due(5), []);
    assert.equal(tracker.shownOf("key/a/one")?.quotas[0]?.used, "200");
  });

  it("shows a few objects at a time, those that wait longest first", () => {
    for (let index = 0; index < 12; index += 1) tracker.acceptReport("p", report(`k${index}`, [quota("1")]));
    assert.deepEqual(tracker.due(5), ["key/a/k0", "key/a/k1", "key/a/k2", "key/a/k3", "key/a/k4"]);
    assert.equal(tracker.due(5).length, 5);
    assert.equal(tracker.due(5).length, 2);
  });

  it("tells at once when a quota is used up, and again when its period ends", () => {
    assert.deepEqual(tracker.acceptReport("p", report("one", [quota("1000")])), ["key/a/one"]);
    assert.deepEqual(tracker.exhaustedOf("key/a/one"), ["month"]);
    assert.deepEqual(tracker.acceptReport("p", report("one", [quota("1001")])), []);
    nowMs = resetAt;
    assert.deepEqual(tracker.exhaustedOf("key/a/one"), []);
    assert.deepEqual(tracker.due(5), ["key/a/one"]);
  });

  it("knows which used-up quotas never begin anew", () => {
    const { resetAt: _, ...endless } = quota("1000");
    tracker.acceptReport(
      "p",
      report("one", [quota("1000"), { ...endless, name: "total" }, { ...endless, name: "more", used: "1" }]),
    );
    assert.deepEqual(tracker.exhaustedOf("key/a/one"), ["month", "total"]);
    assert.deepEqual(tracker.endlessOf("key/a/one"), ["total"]);
  });

  it("does not call a shadow limit used up, nor a limit that was changed since", () => {
    tracker.acceptReport("p", report("shadow", [quota("2000", { isEnforced: false })]));
    assert.deepEqual(tracker.exhaustedOf("key/a/shadow"), []);
    tracker.acceptReport("p", report("one", [quota("1000")]));
    tracker.forgetQuotas("key/a/one");
    assert.deepEqual(tracker.exhaustedOf("key/a/one"), []);
  });

  it("sums over proxies, and only within the newest period", () => {
    tracker.acceptReport("p", report("one", [quota("400")]));
    tracker.acceptReport("q", report("one", [quota("600")]));
    assert.deepEqual(tracker.exhaustedOf("key/a/one"), ["month"]);
    const later = resetAt + 86_400_000;
    tracker.acceptReport("q", report("one", [quota("5", { resetAt: later })]));
    assert.deepEqual(tracker.exhaustedOf("key/a/one"), []);
    assert.equal(tracker.shownOf("key/a/one")?.quotas[0]?.used, "5");
  });

  it("adds nothing up where proxies share a ledger: the latest report is the whole", () => {
    const accounts = (consumed: string) => [{ account: "a/team", consumed, reserved: "1" }];
    for (const [proxy, used] of [
      ["p", "100"],
      ["q", "130"],
      ["p", "140"],
    ] as const) {
      tracker.acceptReport(proxy, { ...report("one", [quota(used)]), isShared: true, accounts: accounts(used) });
    }
    tracker.due(5);
    assert.equal(tracker.shownOf("key/a/one")?.quotas[0]?.used, "140");
    assert.equal(tracker.spentNanosOf("account/a/team"), 141n);
  });

  it("compares what an account spent on all proxies with its credit and overdraft", () => {
    const spend = (proxy: string, consumed: string): string[] =>
      tracker.acceptReport(proxy, {
        type: "report",
        keys: [],
        accounts: [{ account: "a/team", consumed, reserved: "1" }],
        ejected: [],
      });
    assert.deepEqual(spend("p", "40"), ["account/a/team"]);
    spend("q", "58");
    assert.equal(tracker.spentNanosOf("account/a/team"), 100n);
    const account = {
      id: "account/a/team",
      kind: "Account",
      namespace: "a",
      name: "team",
      generation: 1,
      accepted: { status: "True", reason: "Valid", message: "" },
      wireIds: [],
      state: "Active",
    } as const;
    assert.equal(isUnfunded(account, 100n), false);
    assert.equal(isUnfunded({ ...account, creditNanos: "100" }, 100n), true);
    assert.equal(isUnfunded({ ...account, creditNanos: "100", overdraftNanos: "1" }, 100n), false);
  });

  it("keeps a bounded number of objects, the latest reported", () => {
    tracker = new UsageTracker({ now: () => nowMs, objectsMax: 3 });
    for (const name of ["one", "two", "three", "one", "four"]) tracker.acceptReport("p", report(name, [quota("1000")]));
    assert.deepEqual(
      ["one", "two", "three", "four"].map((name) => tracker.exhaustedOf(`key/a/${name}`).length),
      [1, 0, 1, 1],
    );
  });

  it("keeps what was reported when a key is compiled again for its Secret, and not when its limits may have changed", () => {
    let generation = 1;
    tracker = new UsageTracker({ now: () => nowMs, generationOf: () => generation });
    tracker.acceptReport("p", report("one", [quota("1000")]));
    tracker.forgetQuotas("key/a/one");
    assert.deepEqual(tracker.exhaustedOf("key/a/one"), ["month"]);
    generation = 2;
    tracker.forgetQuotas("key/a/one");
    assert.deepEqual(tracker.exhaustedOf("key/a/one"), []);
  });

  it("goes on from what inherited, and shows it again only where it moved", () => {
    const inherited = { atMs: startMs - 90_000, quotas: [quota("1000")], lastUsedMs: Date.UTC(2026, 10, 21, 12) };
    tracker = new UsageTracker({ now: () => nowMs, inherited: () => inherited });
    assert.deepEqual(tracker.exhaustedOf("key/a/one"), ["month"]);
    assert.deepEqual(tracker.acceptReport("p", report("one", [quota("1000")])), []);
    assert.deepEqual(tracker.due(5), []);
    assert.equal(tracker.shownOf("key/a/one"), inherited);
    tracker.acceptReport("p", report("one", [quota("1100")]));
    assert.deepEqual(tracker.due(5), ["key/a/one"]);
    // A new period: told at once.
    assert.deepEqual(tracker.acceptReport("p", report("one", [quota("1", { resetAt: resetAt + 1 })])), ["key/a/one"]);
  });

  it("knows a balance that stood until somebody reports one", () => {
    const balance = { consumedNanos: 7n, reservedNanos: 1n };
    const inherited = { atMs: startMs, quotas: [], lastUsedMs: 0, balance };
    tracker = new UsageTracker({ now: () => nowMs, inherited: () => inherited });
    assert.equal(tracker.spentNanosOf("account/a/team"), 8n);
    const accounts = [{ account: "a/team", consumed: "9", reserved: "0" }];
    tracker.acceptReport("p", { type: "report", keys: [], accounts, ejected: [] });
    assert.equal(tracker.spentNanosOf("account/a/team"), 9n);
  });
});
