import assert from "node:assert/strict";
import { MemoryLedger } from "#proxy/admit/memory-ledger";
import { liveCounters, sweepRegularly } from "#proxy/admit/sweep-counters";
import type { Snapshot } from "#proxy/snapshot/snapshot";
import type { Account, Fleet, Key, Limit } from "#proxy/snapshot/types.gen";

const fleet: Fleet = {
  kind: "fleet",
  name: "fleet",
  requireAccount: false,
  unboundedOutput: "Reserve",
  inputEstimate: "Estimate",
  defaultOutputReserve: 1,
  revocation: "Finish",
  egressAllowCIDRs: [],
};
const key: Key = { kind: "key", namespace: "ns", name: "k", state: "Active", credentials: [] };
const account: Account = { kind: "account", namespace: "ns", name: "a", state: "Active" };

function snapshotAt(revision: number): Snapshot {
  return {
    revision,
    digest: "",
    fleet,
    keyCount: 1,
    findKey: () => undefined,
    keyByName: (namespace, name) => (namespace === "ns" && name === "k" ? key : undefined),
    account: (namespace, name) => (namespace === "ns" && name === "a" ? account : undefined),
    channel: () => undefined,
    credential: () => undefined,
    routesFor: () => [],
    routes: [],
    channels: [],
  };
}

describe("liveCounters()", () => {
  for (const row of [
    { counter: "key/ns/k/quota", want: true },
    { counter: "key/ns/k", want: true },
    { counter: "key/ns/other/quota", want: false },
    { counter: "account/ns/a", want: true },
    { counter: "account/other/a", want: false },
    { counter: "route/ns/r/l", want: false },
    { counter: "channel/ns/c/l", want: false },
  ]) {
    it(`finds ${row.counter} ${row.want ? "alive" : "gone"}`, () => {
      assert.equal(liveCounters(snapshotAt(1))(row.counter), row.want);
    });
  }
});

describe("sweepRegularly()", () => {
  const limit: Limit = {
    name: "l",
    unit: "Requests",
    limit: "9",
    period: "Second",
    algorithm: "FixedWindow",
    mode: "Enforce",
  };
  it("forgets windows that are over, slice by slice, once there is a configuration", async () => {
    let nowMs = 1_000_000;
    let snapshot = snapshotAt(0);
    const ledger = new MemoryLedger({ now: () => nowMs, reservationTtlMs: 1_000 });
    const amounts = { requests: 1n, inputTokens: 0n, outputTokens: 0n, costNanos: 0n };
    const names = Array.from({ length: 2_500 }, (_, index) => `key/ns/k/l${index}`);
    for (const counter of names) {
      ledger.reserve({ id: counter, amounts, limits: [{ counter, limit }], balances: [], concurrency: [] });
      ledger.settle(counter, amounts);
    }
    nowMs += 5_000;
    const stop = sweepRegularly(ledger, () => snapshot, 5);
    await new Promise((resolve) => setTimeout(resolve, 30));
    assert.ok(names.every((counter) => ledger.read(counter) !== undefined));
    snapshot = snapshotAt(1);
    const deadlineMs = performance.now() + 5_000;
    while (names.some((counter) => ledger.read(counter) !== undefined)) {
      assert.ok(performance.now() < deadlineMs);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    stop();
  });
});
