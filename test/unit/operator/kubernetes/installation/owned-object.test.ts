import assert from "node:assert/strict";
import { ApiError } from "#operator/kubernetes/api/api-error";
import type { ApiObject } from "#operator/kubernetes/api/api-object";
import { keepLastGoodKey } from "#operator/kubernetes/installation/last-good-key";
import { ownedConfigMap, ownedSecret } from "#operator/kubernetes/installation/owned-object";
import { isPresentProxy, isReadyProxy } from "#operator/kubernetes/installation/ready-pods";
import { releaseOwner } from "#operator/kubernetes/installation/release-owner";
import { MemoryOwnedData } from "#test/support/fleet/memory-owned-data";
import { ManualTimers } from "#test/support/manual-timers";
import { waitFor } from "#test/support/wait-for";

const refusal = (status: number) => new ApiError("refused", { code: "refused", status });

function clientOf(answers: { get?: () => ApiObject; create?: () => never; update?: () => never }) {
  const asked: { readonly verb: string; readonly body?: unknown }[] = [];
  return {
    asked,
    client: {
      async get() {
        asked.push({ verb: "get" });
        return answers.get?.() ?? { metadata: { name: "x", namespace: "tollgate", resourceVersion: "7" } };
      },
      async create(_resource: unknown, body: object) {
        asked.push({ verb: "create", body });
        answers.create?.();
        return {};
      },
      async update(_resource: unknown, body: ApiObject) {
        asked.push({ verb: "update", body });
        answers.update?.();
        return body;
      },
    },
  };
}

describe("ownedSecret() and ownedConfigMap()", () => {
  const place = { namespace: "tollgate", name: "tollgate-push-ca" };

  it("read nothing where there is no object, and fail where nobody can say", async () => {
    const missing = clientOf({
      get: () => {
        throw refusal(404);
      },
    });
    assert.equal(await ownedSecret({ ...place, client: missing.client }).read(), undefined);
    const forbidden = clientOf({
      get: () => {
        throw refusal(403);
      },
    });
    await assert.rejects(ownedSecret({ ...place, client: forbidden.client }).read(), ApiError);
  });

  it("decode a Secret and leave a ConfigMap as it is", async () => {
    const object = { metadata: { name: "x", resourceVersion: "7" }, data: { key: "YWJj" } };
    const { client } = clientOf({ get: () => object });
    assert.deepEqual(await ownedSecret({ ...place, client }).read(), { data: { key: "abc" }, version: "7" });
    assert.deepEqual(await ownedConfigMap({ ...place, client }).read(), { data: { key: "YWJj" }, version: "7" });
  });

  it("replace only what was read, and keep what others wrote on it", async () => {
    const object = {
      metadata: { name: "x", namespace: "tollgate", resourceVersion: "7", labels: { team: "a" } },
      type: "Opaque",
      data: {},
    };
    const { client, asked } = clientOf({ get: () => object });
    const secret = ownedSecret({ ...place, client });
    assert.equal(await secret.write({ key: "abc" }, "6"), false);
    assert.deepEqual(
      asked.map(({ verb }) => verb),
      ["get"],
    );
    assert.equal(await secret.write({ key: "abc" }, "7"), true);
    assert.deepEqual(asked.at(-1)?.body, { ...object, data: { key: "YWJj" } });
  });

  for (const row of [
    { name: "was made", version: undefined, failing: "create", status: 409 },
    { name: "was changed", version: "7", failing: "update", status: 409 },
    { name: "was taken away", version: "7", failing: "update", status: 404 },
  ]) {
    it(`say so when the object ${row.name} by somebody faster`, async () => {
      const { client } = clientOf({
        [row.failing]: () => {
          throw refusal(row.status);
        },
      });
      assert.equal(await ownedConfigMap({ ...place, client }).write({ a: "b" }, row.version), false);
    });
  }
});

describe("ownedSecret() and ownedConfigMap() with an owner", () => {
  const ours = { apiVersion: "v1", kind: "ConfigMap", name: "tollgate-owner", uid: "u-3" };
  const settings = { apiVersion: "v1", kind: "ConfigMap", name: "tollgate-operator", uid: "u-2" };
  const others = { apiVersion: "v1", kind: "ServiceAccount", name: "tollgate-operator", uid: "u-1" };
  const bears = ({ metadata }: ApiObject) => JSON.stringify(metadata["ownerReferences"] ?? []).includes(ours.uid);
  const place = {
    namespace: "tollgate",
    name: "tollgate-push-ca",
    owner: { owns: bears, read: async () => ours },
  };
  const object = (ownerReferences?: readonly object[]): ApiObject => ({
    metadata: { name: "x", namespace: "tollgate", resourceVersion: "7", ...(ownerReferences && { ownerReferences }) },
    data: { "ca.crt": "YQ==" },
  });

  it("give it to what they make", async () => {
    const { client, asked } = clientOf({});
    await ownedConfigMap({ ...place, client }).write({ a: "b" }, undefined);
    const body: unknown = asked.at(-1)?.body;
    assert.match(JSON.stringify(body), /"ownerReferences":\[{"apiVersion":"v1","kind":"ConfigMap"/);
  });

  for (const row of [
    { name: "none", present: undefined, want: [ours] },
    { name: "that of another version", present: [others], want: [others, ours] },
    { name: "the settings of another version", present: [settings], want: [settings, ours] },
  ])
    it(`give it to what they read with ${row.name}, and touch nothing else`, async () => {
      const { client, asked } = clientOf({ get: () => object(row.present) });
      assert.deepEqual((await ownedSecret({ ...place, client }).read())?.data, { "ca.crt": "a" });
      assert.deepEqual(asked, [{ verb: "get" }, { verb: "update", body: object(row.want) }]);
    });

  it("write nothing where it is there, or where there is none", async () => {
    const read = async () => assert.fail("nothing is to be asked");
    const { client, asked } = clientOf({ get: () => object([others, ours]) });
    await ownedSecret({ ...place, client, owner: { ...place.owner, read } }).read();
    const missing = clientOf({ get: () => object([others]) });
    await ownedSecret({
      ...place,
      client: missing.client,
      owner: { ...place.owner, read: async () => undefined },
    }).read();
    assert.deepEqual([...asked, ...missing.asked], [{ verb: "get" }, { verb: "get" }]);
  });

  it("write back what went with a release with its owner, though they never had to ask for it", async () => {
    let present: ApiObject | undefined = object([ours]);
    const { client, asked } = clientOf({
      get: () => {
        if (present !== undefined) return present;
        throw refusal(404);
      },
    });
    const secret = ownedSecret({ ...place, client, owner: releaseOwner(client, place.namespace, ours.name) });
    await secret.read();
    present = undefined;
    await secret.write({ key: "a" }, undefined);
    const made = asked.at(-1)?.body as ApiObject;
    assert.deepEqual(made.metadata["ownerReferences"], [ours]);
  });

  for (const status of [403, 404, 409])
    it(`read what is there all the same where it cannot be given: ${status}`, async () => {
      const { client } = clientOf({
        get: () => object(),
        update: () => {
          throw refusal(status);
        },
      });
      assert.deepEqual(await ownedSecret({ ...place, client }).read(), { data: { "ca.crt": "a" }, version: "7" });
    });
});

describe("keepLastGoodKey()", () => {
  it("makes a key of 32 bytes once, whoever asks, and never overwrites it", async () => {
    const secret = new MemoryOwnedData();
    const timers = new ManualTimers();
    const log = { info() {}, error() {} };
    const stops = [keepLastGoodKey(secret, log, timers), keepLastGoodKey(secret, log, timers)];
    await waitFor("the key", () => secret.data !== undefined && timers.waiting === 2);
    const made = secret.data?.["key"];
    assert.equal(Buffer.from(made ?? "", "base64").length, 32);
    timers.advance(600_000);
    await waitFor("another look", () => timers.waiting === 2);
    assert.equal(secret.data?.["key"], made);
    assert.equal(secret.writes, 1);
    for (const stop of stops) stop();
  });
});

describe("keepLastGoodKey() of a Secret that was lost", () => {
  for (const row of [
    { name: "writes the same key back when it was taken away", lose: (secret: MemoryOwnedData) => secret.delete() },
    {
      name: "makes another when it was emptied",
      lose: async (secret: MemoryOwnedData) => void (await secret.write({}, (await secret.read())?.version)),
      isNew: true,
    },
  ])
    it(row.name, async () => {
      const secret = new MemoryOwnedData();
      const timers = new ManualTimers();
      const stop = keepLastGoodKey(secret, { info() {}, error() {} }, timers);
      await waitFor("the key", () => secret.data !== undefined && timers.waiting === 1);
      const made = secret.data?.["key"];
      await row.lose(secret);
      timers.advance(300_000);
      await waitFor("a key again", () => secret.data?.["key"] !== undefined);
      assert.equal(secret.data?.["key"] !== made, row.isNew === true);
      stop();
    });
});

describe("isReadyProxy() and isPresentProxy()", () => {
  const labels = { "app.kubernetes.io/component": "proxy" };
  const pod = { metadata: { name: "p", labels }, status: { conditions: [{ type: "Ready", status: "True" }] } };
  for (const row of [
    { name: "a ready pod with the labels counts", pod, want: true, isPresent: true },
    {
      name: "one that is being ended does not",
      pod: { ...pod, metadata: { ...pod.metadata, deletionTimestamp: "t" } },
    },
    { name: "one with other labels does not", pod: { ...pod, metadata: { name: "p", labels: { a: "b" } } } },
    { name: "one without labels does not", pod: { ...pod, metadata: { name: "p" } } },
    { name: "one without a status is there", pod: { metadata: pod.metadata }, isPresent: true },
    {
      name: "one not ready is there",
      pod: { ...pod, status: { conditions: [{ type: "Ready", status: "False" }] } },
      isPresent: true,
    },
    {
      name: "one whose containers alone are ready is there",
      pod: { ...pod, status: { conditions: [{ type: "ContainersReady", status: "True" }] } },
      isPresent: true,
    },
    { name: "one that is over does not", pod: { ...pod, status: { phase: "Failed", conditions: [] } } },
  ]) {
    it(row.name, () => {
      assert.equal(isReadyProxy(row.pod, labels), row.want ?? false);
      assert.equal(isPresentProxy(row.pod, labels), row.isPresent ?? false);
    });
  }
});
