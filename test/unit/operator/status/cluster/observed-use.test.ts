import assert from "node:assert/strict";
import type { AccountResult, KeyResult } from "#operator/compile/result";
import { valid } from "#operator/compile/result";
import type { ResourceSet } from "#operator/resources/resource";
import { ManifestStore } from "#operator/source/manifest-store";
import { observedUse } from "#operator/status/cluster/observed-use";
import { statusDocument } from "#operator/status/status-document";
import type { ShownUse } from "#operator/status/usage-tracker";
import { putText } from "#test/support/compile-manifests";

const common = { namespace: "a", generation: 1, accepted: valid, wireIds: [], state: "Active" } as const;
const key: KeyResult = {
  ...common,
  id: "key/a/one",
  kind: "ApiKey",
  name: "one",
  accountRequired: false,
  credentials: [],
};
const account: AccountResult = { ...common, id: "account/a/team", kind: "Account", name: "team", creditNanos: "5" };
const limits = [
  { name: "money", unit: "Cost", limit: "2", period: "Month" },
  { name: "tokens", unit: "Tokens", limit: "200k", period: "Lifetime", mode: "Shadow" },
] as const;
const credentials = [{ name: "current", sha256: "0".repeat(64) }];

/** The key and its account as they stand beside the status. */
function resources(spec: object, defaultKeyLimits: readonly object[] = []): ResourceSet {
  const store = new ManifestStore();
  const api = { apiVersion: "tollgate.dev/v1alpha1" };
  const objects = [
    { ...api, kind: "ApiKey", metadata: { name: "one", namespace: "a" }, spec: { credentials, ...spec } },
    { ...api, kind: "Account", metadata: { name: "team", namespace: "a" }, spec: { defaultKeyLimits } },
  ];
  putText(store, "all.yaml", objects.map((object) => JSON.stringify(object)).join("\n---\n"));
  assert.deepEqual([store.resources.apiKeys.size, store.resources.accounts.size], [1, 1]);
  return store.resources;
}

const use: ShownUse = {
  atMs: Date.UTC(2026, 10, 21, 12, 30, 5),
  lastUsedMs: Date.UTC(2026, 10, 21, 12),
  quotas: [
    {
      name: "money",
      unit: "Cost",
      isEnforced: true,
      used: "1000000001",
      limit: "2000000000",
      resetAt: Date.UTC(2026, 11),
    },
    { name: "tokens", unit: "Tokens", isEnforced: false, used: "12345678901234567", limit: "200000" },
  ],
};

describe("observedUse", () => {
  it("is the inverse of what is written", () => {
    const written = statusDocument(key, [], use.atMs, { use });
    assert.deepEqual(observedUse(written, resources({ limits })), use);
    const inherited = resources({ accountRef: { name: "team" } }, limits);
    assert.deepEqual(observedUse(written, inherited), use, "limits of the account's template");
    for (const consumedNanos of [0n, 7n, 12_345_678_901_234_567n]) {
      const balance = { consumedNanos, reservedNanos: 3n };
      const shown = { atMs: use.atMs, quotas: [], lastUsedMs: 0, balance };
      assert.deepEqual(observedUse(statusDocument(account, [], use.atMs, { use: shown }), resources({})), shown);
    }
  });

  it("leaves out limits that are no more, and says nothing where nothing was shown", () => {
    const written = statusDocument(key, [], use.atMs, { use });
    assert.deepEqual(observedUse(written, resources({ limits: limits.slice(0, 1) }))?.quotas.length, 1);
    assert.equal(observedUse(statusDocument(key, [], use.atMs, {}), resources({ limits })), undefined);
    assert.equal(observedUse(statusDocument(account, [], use.atMs, {}), resources({})), undefined);
  });
});
