/** Lists that are read while events and answers come: what is taken of them, and what is newer already. */
import assert from "node:assert/strict";
import type { ApiObject } from "#operator/kubernetes/api/api-object";
import type { ResourceChange } from "#operator/resources/resource";
import { ClusterStore } from "#operator/source/kubernetes/cluster-store";

const key = (name: string, version: number, spec: object = {}): ApiObject => ({
  metadata: { namespace: "team-a", name, uid: `uid-${name}`, resourceVersion: `${version}`, generation: 1 },
  spec: { credentials: [{ name: "current", sha256: "1".repeat(64) }], ...spec },
});
const keyBySecret = (name: string, version: number) =>
  key(name, version, { credentials: [{ name: "current", secretKeyRef: { name: "s" } }] });
const secret = (value: string, version: number): ApiObject => ({
  metadata: { namespace: "team-a", name: "s", uid: "uid-s", resourceVersion: `${version}` },
  data: { apiKey: Buffer.from(value).toString("base64") },
});

function openStore() {
  const told: ResourceChange[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const store = new ClusterStore({ onChange: (changes) => told.push(...changes), fetchMissing: () => promise });
  store.open();
  const keys = store.sinkFor("ApiKey", undefined);
  const secrets = store.sinkFor("Secret", undefined);
  const answered = async () => {
    resolve();
    for (let turns = 0; turns < 4; turns += 1) await Promise.resolve();
  };
  return { store, told, keys, secrets, answered };
}

describe("a list that is compared with what is held", () => {
  for (const row of [
    { name: "deleted", event: "remove", version: 21, want: [] },
    { name: "changed", event: "put", version: 21, want: ["21"] },
  ] as const) {
    it(`leaves alone what an event has ${row.name} since it was read, whatever else differs`, () => {
      const { store, told, keys } = openStore();
      keys.put(key("touched", 10));
      const collector = keys.beginList();
      collector.add(key("touched", 10));
      collector.add(key("missed", 15));
      keys[row.event](key("touched", row.version));
      told.length = 0;
      collector.finish("20", false);
      const held = store.resources.apiKeys.get("team-a/touched");
      assert.deepEqual(held ? [held.metadata.resourceVersion] : [], row.want);
      assert.deepEqual(
        told.map(({ name }) => name),
        ["missed"],
      );
    });
  }

  it("loses nothing that came by an event and waits for its Secret", async () => {
    const { store, keys, answered } = openStore();
    const collector = keys.beginList();
    collector.add(keyBySecret("waits", 19));
    keys.put(keyBySecret("waits", 19));
    collector.finish("20", false);
    await answered();
    assert.ok(store.resources.apiKeys.has("team-a/waits"));
  });
});

describe("a list of Secrets", () => {
  it("does not bring back what was let go while it was read", async () => {
    const { store, keys, secrets, answered } = openStore();
    keys.put(keyBySecret("a", 10));
    await answered();
    secrets.put(secret("sk-old", 9));
    const collector = secrets.beginList();
    collector.add(secret("sk-old", 9));
    keys.remove(keyBySecret("a", 11));
    assert.deepEqual(collector.differences("12"), []);
    collector.finish("12", false);
    assert.equal(store.resources.secrets.size, 0);
    // Rotated while nobody referred to it: what refers to it next must find none, and ask.
    secrets.put(secret("sk-new", 13));
    keys.put(keyBySecret("b", 14));
    await answered();
    assert.equal(store.resources.secrets.size, 0);
  });

  for (const row of [
    { name: "believes no answer that is older and has it", answer: 9, want: [] },
    { name: "gives way to an answer that is newer and has it", answer: 13, want: ["13"] },
  ]) {
    it(`without a Secret ${row.name}`, async () => {
      const { store, keys, secrets, answered } = openStore();
      keys.put(keyBySecret("a", 10));
      secrets.beginList().finish("12", false);
      store.put("Secret", secret("sk-1", row.answer));
      await answered();
      const held = store.resources.secrets.get("team-a/s");
      assert.deepEqual(held ? [held.metadata.resourceVersion] : [], row.want);
    });
  }

  it("tells nothing of other namespaces, nor of what it shows and nobody wanted then", async () => {
    const { store, keys, answered } = openStore();
    store.sinkFor("Secret", "team-b").beginList().finish("12", false);
    const collector = store.sinkFor("Secret", "team-a").beginList();
    collector.add(secret("sk-1", 9));
    keys.put(keyBySecret("a", 10));
    collector.finish("12", false);
    store.put("Secret", secret("sk-1", 9));
    await answered();
    assert.ok(store.resources.secrets.has("team-a/s"));
  });
});
