import assert from "node:assert/strict";
import { stat } from "node:fs/promises";
import { byId, eventually, type PushRig, startPushRig } from "#test/support/push-rig";
import { sha256Of, wireChannel, wireKey, wireRoute } from "#test/support/wire-objects";

describe("push over a Unix socket", () => {
  let rig: PushRig;
  beforeEach(async () => {
    rig = await startPushRig();
  });
  afterEach(() => rig.close());

  it("brings two proxies to the operator's digest and reports their acknowledgements", async () => {
    const objects = byId(wireKey("one"), wireChannel("main"), wireRoute("small"));
    rig.publisher.publish(objects);
    const first = rig.proxy("proxy-1");
    const second = rig.proxy("proxy-2");
    await eventually(
      "both proxies acknowledged",
      () => rig.fleet.acknowledgementOf("key/team-a/one").acknowledgedBy === 2,
    );
    for (const { store } of [first, second]) {
      assert.equal(store.isReady, true);
      assert.equal(store.pin().digest, rig.publisher.snapshot.digest);
      assert.equal(store.pin().findKey(sha256Of("sk-one"))?.key.name, "one");
      assert.equal(store.pin().routesFor("small").length, 1);
    }
    assert.equal(rig.fleet.acknowledgementOf("key/team-a/one").state, "Programmed");
  });

  it("makes a change live in every proxy and a suspension within a second", async () => {
    rig.publisher.publish(byId(wireKey("one")));
    const proxies = [rig.proxy("proxy-1"), rig.proxy("proxy-2")];
    await eventually("both are ready", () => proxies.every(({ store }) => store.isReady));
    const pinned = proxies[0]?.store.pin();
    rig.publisher.publish(byId(wireKey("one", { state: "Suspended" }), wireKey("two")));
    await eventually(
      "suspended everywhere",
      () => proxies.every(({ store }) => store.pin().findKey(sha256Of("sk-one"))?.key.state === "Suspended"),
      1_000,
    );
    assert.equal(pinned?.findKey(sha256Of("sk-one"))?.key.state, "Active", "a pinned snapshot never changes");
    assert.ok(proxies.every(({ store }) => store.pin().keyByName("team-a", "two") !== undefined));
  });

  it("keeps serving without an operator and is sent nothing when one with the same objects returns", async () => {
    rig.publisher.publish(byId(wireKey("one")));
    const { store, events } = rig.proxy("proxy-1");
    await eventually("ready", () => store.isReady);
    await rig.stopOperator();
    await eventually("disconnected", () => events.some(({ type }) => type === "disconnected"));
    assert.notEqual(store.pin().findKey(sha256Of("sk-one")), undefined);
    const folder = rig.socketPath.slice(0, -"/push.sock".length);
    const successor = await startPushRig({ folder, operator: "operator-b" });
    try {
      successor.publisher.publish(byId(wireKey("one")));
      await eventually(
        "acknowledged again",
        () => successor.fleet.acknowledgementOf("key/team-a/one").state === "Programmed",
      );
      const last = events.findLast(({ type }) => type === "connected");
      assert.deepEqual(last, { type: "connected", operator: "operator-b", sync: "none" });
    } finally {
      await successor.close();
    }
  });

  it("sends nothing before the operator has read its source", async () => {
    const { store, events } = rig.proxy("proxy-1");
    await eventually("refused", () =>
      events.some((event) => event.type === "disconnected" && event.reason.includes("503")),
    );
    assert.equal(store.isReady, false);
    rig.publisher.publish(new Map());
    await eventually("ready with nothing", () => store.isReady);
  });

  it("listens where only the owner may connect", async () => {
    assert.equal((await stat(rig.socketPath)).mode & 0o777, 0o600);
  });
});

describe("push under load", () => {
  let rig: PushRig;
  beforeEach(async () => {
    rig = await startPushRig();
  });
  afterEach(() => rig.close());

  it("merges a flood of 2,000 changes and ends with the last of each (J5)", async () => {
    rig.publisher.publish(new Map());
    const { store } = rig.proxy("proxy-1");
    await eventually("ready", () => store.isReady);
    let applied = 0;
    store.onEvent(({ type }) => (applied += type === "applied" ? 1 : 0));
    for (let change = 0; change < 2_000; change += 1) {
      const key = wireKey(`key-${change % 50}`, { metadata: { change: `${change}` } });
      rig.publisher.publishChanges({ upserts: byId(key), removes: [] });
      if (change % 20 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    }
    const isLast = (index: number) =>
      store.pin().keyByName("team-a", `key-${index}`)?.metadata?.["change"] === `${1_950 + index}`;
    await eventually("the last state is live", () => isLast(0) && isLast(49), 1_000);
    assert.ok(applied < 100, `${applied} transactions`);
    assert.equal(store.live.digest, rig.publisher.snapshot.digest);
  });

  it("has 50 proxies back in step within 5 s after the operator restarted (J11)", async () => {
    const keys = Array.from({ length: 500 }, (_, index) => wireKey(`key-${index}`));
    rig.publisher.publish(byId(...keys));
    const proxies = Array.from({ length: 50 }, (_, index) => rig.proxy(`proxy-${index}`));
    await eventually("all are ready", () => proxies.every(({ store }) => store.isReady));
    await rig.stopOperator();
    const folder = rig.socketPath.slice(0, -"/push.sock".length);
    const successor = await startPushRig({ folder, operator: "operator-b" });
    try {
      successor.publisher.publish(byId(...keys, wireKey("new")));
      const { digest } = successor.publisher.snapshot;
      await eventually("all in step", () => proxies.every(({ store }) => store.live.digest === digest));
      await eventually(
        "all acknowledged",
        () => successor.fleet.acknowledgementOf("key/team-a/new").acknowledgedBy === 50,
      );
      const syncs = proxies.map(({ events }) => events.findLast((event) => event.type === "connected")?.sync);
      assert.ok(
        syncs.every((sync) => sync === "difference"),
        "only what differs is sent again",
      );
    } finally {
      await successor.close();
    }
  });

  it("stops a revoked key at a proxy that has not acknowledged for a while", async () => {
    rig.publisher.publish(byId(wireKey("one"), wireKey("two")));
    const { store, client } = rig.proxy("proxy-1");
    await eventually("ready", () => store.isReady);
    // A large transaction is under way when the key is deleted.
    const many = Array.from({ length: 20_000 }, (_, index) => wireKey(`key-${index}`));
    await rig.publisher.publishChangesInSlices({ upserts: byId(...many), removes: [] });
    await eventually("it is under way", () => (rig.fleet.view()[0]?.waitingMs ?? null) !== null);
    const begunAt = performance.now();
    rig.publisher.publishChanges({ upserts: [], removes: ["key/team-a/one"] });
    await eventually("revoked", () => store.pin().findKey(sha256Of("sk-one")) === undefined, 1_000);
    assert.ok(performance.now() - begunAt < 1_000);
    await eventually("in step", () => store.live.digest === rig.publisher.snapshot.digest, 10_000);
    assert.equal(store.pin().keyByName("team-a", "one"), undefined);
    assert.notEqual(store.pin().keyByName("team-a", "two"), undefined);
    assert.equal(client.isConnected, true);
  });
});
