import assert from "node:assert/strict";
import { createHash, randomUUID } from "node:crypto";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { Compilation } from "#operator/compile/compilation";
import type { ApiObject } from "#operator/kubernetes/api/api-object";
import { Publisher } from "#operator/push/publisher";
import { everyObject } from "#operator/resources/mutable-resource-set";
import type { ResourceChange, ResourceKind } from "#operator/resources/resource";
import { ClusterStore, type ClusterStoreOptions } from "#operator/source/kubernetes/cluster-store";
import { usualFleet } from "#test/support/folder-settings";
import { ManualTimers } from "#test/support/manual-timers";

function openStore(options: Partial<ClusterStoreOptions> = {}) {
  const told: ResourceChange[] = [];
  const store = new ClusterStore({
    onChange: (changes) => told.push(...changes),
    fetchMissing: async () => undefined,
    ...options,
  });
  store.open();
  return { store, told };
}

let versions = 1_000;
const nextVersion = () => String((versions += 1));

function object(name: string, spec: object, metadata: object = {}): ApiObject {
  const own = {
    namespace: "team-a",
    name,
    uid: `uid-${name}`,
    resourceVersion: nextVersion(),
    generation: 1,
    ...metadata,
  };
  return { apiVersion: "tollgate.dev/v1alpha1", metadata: own, spec };
}

const digestOf = (name: string) => createHash("sha256").update(name).digest("hex");
const key = (name: string, metadata: object = {}, spec: object = {}) =>
  object(name, { credentials: [{ name: "current", sha256: digestOf(name) }], ...spec }, metadata);
const keyBySecret = (name: string, secret: string, metadata: object = {}) =>
  object(name, { credentials: [{ name: "current", secretKeyRef: { name: secret } }] }, metadata);
const secret = (name: string, data: Record<string, string>, metadata: object = {}): ApiObject => ({
  metadata: { namespace: "team-a", name, uid: `uid-${name}`, resourceVersion: nextVersion(), ...metadata },
  data: Object.fromEntries(Object.entries(data).map(([at, value]) => [at, Buffer.from(value).toString("base64")])),
});

describe("cluster store", () => {
  it("never gives a later version up for an earlier one", () => {
    const { store } = openStore();
    const sink = store.sinkFor("ApiKey", undefined);
    const [old, newer] = [key("a"), key("a", { generation: 2 }, { state: "Suspended" })];
    sink.put(newer);
    sink.put(old);
    assert.equal(store.resources.apiKeys.get("team-a/a")?.spec?.state, "Suspended");
    sink.remove(old);
    assert.ok(store.resources.apiKeys.has("team-a/a"), "the deletion is that of an earlier object");
  });

  it("takes an object made anew under an old name for another one", () => {
    const { store, told } = openStore();
    const sink = store.sinkFor("ApiKey", undefined);
    sink.put(key("a"));
    sink.put(key("a", { uid: "another" }));
    assert.equal(told.length, 2);
    assert.equal(store.resources.apiKeys.get("team-a/a")?.metadata.uid, "another");
  });

  it("denies a key that it does not understand, and keeps of all else the last good version", () => {
    const { store } = openStore();
    store.sinkFor("ApiKey", undefined).put(key("a"));
    store.sinkFor("ApiKey", undefined).put(key("a", { generation: 2 }, { clientCIDRsOfTomorrow: ["10.0.0.0/8"] }));
    const held = store.resources.apiKeys.get("team-a/a");
    assert.equal(held?.spec, undefined);
    assert.match(held?.invalid ?? "", /clientCIDRsOfTomorrow/);
    const accounts = store.sinkFor("Account", undefined);
    accounts.put(object("acct", { credit: "5" }));
    accounts.put(object("acct", { credit: "much" }, { generation: 2 }));
    const account = store.resources.accounts.get("team-a/acct");
    assert.equal(account?.spec?.credit, "5");
    assert.notEqual(account?.invalid, undefined);
    accounts.put(object("acct", { credit: "much" }, { generation: 1, uid: "another" }));
    assert.equal(
      store.resources.accounts.get("team-a/acct")?.spec,
      undefined,
      "another object has no last good version",
    );
  });

  it("refuses a value that nests deeper than anybody reads, and goes on with all else", () => {
    const { store, told } = openStore();
    const sink = store.sinkFor("Channel", undefined);
    const nested = (levels: number): unknown => JSON.parse(`${"[".repeat(levels)}${"]".repeat(levels)}`);
    const deep = (version: string): ApiObject =>
      object(
        "deep",
        { provider: "OpenAI", body: { set: [{ field: "x", value: nested(20_000) }] } },
        { resourceVersion: version },
      );
    const usual = (state: string, metadata: object = {}) => object("usual", { provider: "OpenAI", state }, metadata);
    sink.put(deep(nextVersion()));
    sink.put(usual("Active"));
    assert.match(store.resources.channels.get("team-a/deep")?.invalid ?? "", /spec: nested deeper than 64 levels/);
    // As somebody's annotation or status makes it come again.
    const [again, listedAgain] = [nextVersion(), nextVersion()];
    sink.put(deep(again));
    const list = sink.beginList();
    list.add(deep(listedAgain));
    list.add(usual("Disabled", { generation: 2 }));
    told.length = 0;
    list.finish(nextVersion(), false);
    assert.deepEqual(
      told.map(({ name }) => name),
      ["usual"],
    );
    assert.equal(store.resources.channels.get("team-a/usual")?.spec?.state, "Disabled");
  });

  it("drops by a list what the list does not show, but not what came after it, nor other namespaces", () => {
    const { store, told } = openStore();
    const sink = store.sinkFor("ApiKey", "team-a");
    sink.put(key("gone"));
    sink.put(key("stays"));
    store.sinkFor("ApiKey", "team-b").put(key("elsewhere", { namespace: "team-b" }));
    const collector = sink.beginList();
    collector.add(
      key("stays", { resourceVersion: store.resources.apiKeys.get("team-a/stays")?.metadata.resourceVersion }),
    );
    const listVersion = nextVersion();
    sink.put(key("later"));
    told.length = 0;
    collector.finish(listVersion, false);
    assert.deepEqual([...store.resources.apiKeys.keys()].sort(), ["team-a/later", "team-a/stays", "team-b/elsewhere"]);
    assert.deepEqual(
      told.map(({ name }) => name),
      ["gone"],
    );
  });

  it("believes a list of a restored server against everything it holds", () => {
    const { store } = openStore();
    const sink = store.sinkFor("ApiKey", undefined);
    sink.put(key("future"));
    sink.put(key("a", { generation: 7 }, { state: "Suspended" }));
    const collector = sink.beginList();
    collector.add(key("a", { resourceVersion: "5" }));
    collector.finish("6", true);
    assert.deepEqual([...store.resources.apiKeys.keys()], ["team-a/a"]);
    assert.equal(store.resources.apiKeys.get("team-a/a")?.metadata.generation, 1);
  });

  it("believes a list that is newer than what it holds and shows an earlier version: that one was undone", () => {
    const seen: [string, boolean][] = [];
    const { store, told } = openStore({
      onObserved: (_kind, { metadata }, isLatest = false) => seen.push([metadata.name, isLatest]),
    });
    const sink = store.sinkFor("ApiKey", undefined);
    const backup = key("a", {}, { state: "Suspended" });
    sink.put(key("same"));
    sink.put(key("a", { generation: 2 }));
    const collector = sink.beginList();
    collector.add(backup);
    collector.add(
      key("same", { resourceVersion: store.resources.apiKeys.get("team-a/same")?.metadata.resourceVersion }),
    );
    // A restored store whose versions were raised above all that were ever given.
    const version = "1000000000";
    assert.deepEqual(collector.differences(version), ["team-a/a"]);
    told.length = 0;
    seen.length = 0;
    collector.finish(version, false);
    assert.equal(store.resources.apiKeys.get("team-a/a")?.spec?.state, "Suspended");
    assert.deepEqual(
      told.map(({ name }) => name),
      ["a"],
    );
    assert.deepEqual(seen, [["a", true]]);
  });

  it("keeps what is newer than a list that shows an earlier version", () => {
    const { store } = openStore();
    const sink = store.sinkFor("ApiKey", undefined);
    const before = key("a");
    sink.put(before);
    const collector = sink.beginList();
    collector.add(before);
    const version = nextVersion();
    store.put("ApiKey", key("a", { generation: 2 }, { state: "Suspended" }));
    assert.deepEqual(collector.differences(version), []);
    collector.finish(version, false);
    assert.equal(store.resources.apiKeys.get("team-a/a")?.spec?.state, "Suspended");
  });

  it("names no difference between a list and what events changed meanwhile", () => {
    const { store } = openStore();
    const sink = store.sinkFor("ApiKey", undefined);
    for (const name of ["kept", "changed", "deleted", "lost"]) sink.put(key(name));
    const collector = sink.beginList();
    for (const name of ["kept", "changed"]) {
      const { resourceVersion } = store.resources.apiKeys.get(`team-a/${name}`)?.metadata ?? {};
      collector.add(key(name, { resourceVersion }));
    }
    collector.add(key("missed"));
    const version = nextVersion();
    sink.put(key("changed", { generation: 2 }));
    sink.remove(key("deleted"));
    assert.deepEqual(collector.differences(version).sort(), ["team-a/lost", "team-a/missed"]);
    collector.drop();
  });

  it("keeps of Secrets the keys that are named, until nobody names them", () => {
    const { store } = openStore();
    const secrets = store.sinkFor("Secret", undefined);
    const keys = store.sinkFor("ApiKey", undefined);
    keys.put(keyBySecret("a", "s"));
    keys.put(keyBySecret("b", "s"));
    return Promise.resolve().then(() => {
      secrets.put(secret("s", { apiKey: "sk-1", password: "canary" }));
      secrets.put(secret("other", { apiKey: "sk-2" }));
      assert.deepEqual([...store.resources.secrets.keys()], ["team-a/s"]);
      assert.deepEqual(store.resources.secrets.get("team-a/s")?.data.keys(), ["apiKey"]);
      keys.remove(keyBySecret("a", "s"));
      assert.equal(store.resources.secrets.size, 1);
      keys.remove(keyBySecret("b", "s"));
      assert.equal(store.resources.secrets.size, 0);
    });
  });

  it("does not bring a Secret back by an answer from before its deletion", async () => {
    const { store } = openStore();
    store.sinkFor("ApiKey", undefined).put(keyBySecret("a", "s"));
    await Promise.resolve();
    const early = secret("s", { apiKey: "sk-1" });
    const secrets = store.sinkFor("Secret", undefined);
    secrets.remove(secret("s", {}));
    store.put("Secret", early);
    assert.equal(store.resources.secrets.size, 0);
    store.put("Secret", secret("s", { apiKey: "sk-2" }));
    assert.equal(store.resources.secrets.get("team-a/s")?.data.get("apiKey"), "sk-2");
  });

  it("holds a change back until its Secret is there, and says so in its versions", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { store, told } = openStore({ fetchMissing: () => promise });
    const keys = store.sinkFor("ApiKey", undefined);
    keys.put(key("a"));
    told.length = 0;
    const next = keyBySecret("a", "s", { generation: 2 });
    keys.put(next);
    assert.equal(store.resources.apiKeys.get("team-a/a")?.metadata.generation, 1);
    assert.equal(store.oldestWaiting("ApiKey", undefined), next.metadata.resourceVersion);
    store.put("Secret", secret("s", { apiKey: "sk-1" }));
    resolve();
    await promise;
    await Promise.resolve();
    assert.equal(store.resources.apiKeys.get("team-a/a")?.metadata.generation, 2);
    assert.equal(store.oldestWaiting("ApiKey", undefined), undefined);
    assert.ok(store.resources.secrets.has("team-a/s"));
    assert.deepEqual(
      told.map(({ kind }) => kind),
      ["Secret", "ApiKey"],
    );
  });

  it("lets a deletion overtake a change that waits", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { store } = openStore({ fetchMissing: () => promise });
    const keys = store.sinkFor("ApiKey", undefined);
    keys.put(key("a"));
    keys.put(keyBySecret("a", "s", { generation: 2 }));
    keys.remove(keyBySecret("a", "s", { generation: 2 }));
    resolve();
    await promise;
    await Promise.resolve();
    assert.equal(store.resources.apiKeys.size, 0);
    assert.equal(store.oldestWaiting("ApiKey", undefined), undefined);
  });

  for (const row of [
    { name: "that shows a later version of a change that waits", isListed: true, want: 3 },
    { name: "that does not show an object that waits", isListed: false, want: undefined },
  ]) {
    it(`believes a list ${row.name}`, async () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const { store } = openStore({ fetchMissing: () => promise });
      const keys = store.sinkFor("ApiKey", undefined);
      keys.put(keyBySecret("a", "s", { generation: 2 }));
      const collector = keys.beginList();
      if (row.isListed) collector.add(key("a", { generation: 3 }));
      collector.finish(nextVersion(), false);
      resolve();
      await promise;
      await Promise.resolve();
      assert.equal(store.resources.apiKeys.get("team-a/a")?.metadata.generation, row.want);
      assert.equal(store.oldestWaiting("ApiKey", undefined), undefined);
    });
  }

  it("keeps what waits and came after a list", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { store } = openStore({ fetchMissing: () => promise });
    const keys = store.sinkFor("ApiKey", undefined);
    const collector = keys.beginList();
    const version = nextVersion();
    keys.put(keyBySecret("a", "s"));
    collector.finish(version, false);
    resolve();
    await promise;
    await Promise.resolve();
    assert.ok(store.resources.apiKeys.has("team-a/a"));
  });

  it("gives the same configuration whatever order the objects come in (J13)", async () => {
    const objects: [ResourceKind, ApiObject][] = [
      ["Account", object("acct", { credit: "5" })],
      ["Secret", secret("up", { apiKey: "upstream-secret" })],
      ["Secret", secret("client", { apiKey: "sk-aaaaaaaaaaaaaaaaaaaaaaaa" })],
      ["Channel", object("ch", channelSpec)],
      ["ModelRoute", object("r1", routeSpec, { creationTimestamp: "2026-01-02T00:00:00Z" })],
      ["ModelRoute", object("r2", routeSpec, { creationTimestamp: "2026-01-01T00:00:00Z" })],
      ["ApiKey", key("a", {}, { accountRef: { name: "acct" } })],
      ["ApiKey", keyBySecret("b", "client")],
      ["ApiKey", keyBySecret("twin", "client", { creationTimestamp: "2026-01-03T00:00:00Z" })],
    ];
    const digests = new Set<string>();
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray(objects, { minLength: objects.length }), async (shuffled) => {
        // An object that nobody referred to yet is asked for later, as in a cluster.
        const { store, told } = openStore({
          fetchMissing: async (references) => {
            for (const { identity } of references) {
              const found = shuffled.find(
                ([kind, { metadata }]) => kind === "Secret" && `team-a/${metadata.name}` === identity,
              );
              if (found) store.put(...found);
            }
          },
        });
        const compilation = new Compilation(store.resources, usualFleet);
        const timers = new ManualTimers();
        const publisher = new Publisher({ timers });
        for (const [kind, given] of shuffled) {
          store.sinkFor(kind, undefined).put(given);
          // Turns in which a waiting object goes on.
          for (let turn = 0; turn < 4; turn += 1) await Promise.resolve();
          publisher.publishChanges(compilation.update(told.splice(0)));
        }
        publisher.publish(compilation.objects);
        timers.advance(1_000);
        digests.add(publisher.snapshot.digest);
        assert.equal(compilation.results.get("route/team-a/r2")?.accepted.status, "True");
        assert.equal(compilation.results.get("route/team-a/r1")?.accepted.reason, "Conflicted");
        publisher.close();
      }),
      { numRuns: 100 },
    );
    assert.equal(digests.size, 1);
  });

  it("costs the operator at most 4 KiB of heap a key, its Secret included (T8)", () => {
    setFlagsFromString("--expose-gc");
    const collect: () => void = runInNewContext("gc");
    const heap = () => {
      collect();
      return process.memoryUsage().heapUsed;
    };
    const count = 5_000;
    const before = heap();
    const { store } = openStore();
    const limits = [{ name: "burst", unit: "Tokens", limit: "200k", period: "Minute", algorithm: "TokenBucket" }];
    const spec = { models: { allow: ["claude-*", "gpt-5.4-mini"] }, clientCIDRs: { allow: ["10.0.0.0/8"] }, limits };
    const keys = store.sinkFor("ApiKey", undefined).beginList();
    const secrets = store.sinkFor("Secret", undefined).beginList();
    for (let index = 0; index < count; index += 1) {
      const credentials = [{ name: "current", secretKeyRef: { name: `s-${index}` } }];
      const managedFields = [{ manager: "kubectl", fieldsV1: { "f:spec": {} } }];
      const text = JSON.stringify(object(`k-${index}`, { credentials, ...spec }, { uid: randomUUID(), managedFields }));
      keys.add(JSON.parse(text));
    }
    keys.finish(nextVersion(), false);
    for (let index = 0; index < count; index += 1) {
      secrets.add(
        JSON.parse(JSON.stringify(secret(`s-${index}`, { apiKey: `sk-${randomUUID()}`, other: "x".repeat(500) }))),
      );
    }
    secrets.finish(nextVersion(), false);
    const compilation = new Compilation(store.resources, usualFleet);
    const publisher = new Publisher();
    publisher.publishChanges(compilation.update(everyObject(store.resources)));
    assert.equal(publisher.snapshot.keyCount, count);
    // As the pipeline does: both sides hold one copy, and the pass has ended.
    for (const id of compilation.objects.keys()) {
      const copy = publisher.latest(id);
      if (copy) compilation.adopt(id, copy);
    }
    compilation.endPass();
    const perKey = (heap() - before) / count;
    assert.ok(perKey <= 4_096, `${Math.round(perKey)} bytes a key`);
    publisher.close();
  }).timeout(20_000);
});

const channelSpec = {
  provider: "OpenAI",
  credentials: [{ name: "main", secretKeyRef: { name: "up", key: "apiKey" } }],
};
const routeSpec = { model: "m", targets: [{ name: "t", channelRef: { name: "ch" } }] };
