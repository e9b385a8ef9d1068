/**
 * A fleet in the middle of an upgrade, by docs/design/configuration.md 3.3: a key or a channel with a field that some
 * connected proxy does not know is sent to nobody, says so in its status, and goes out when the last old proxy is gone.
 */
import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import { runOperator } from "#operator/main";
import type { RunningOperator } from "#operator/settings";
import { bucketOf } from "#proxy/snapshot/digest";
import type { PushClient } from "#proxy/sync/push-client";
import { SnapshotStore } from "#proxy/sync/snapshot-store";
import { unixSocketTransport } from "#proxy/sync/socket-transport";
import { TlsRig, type TlsRigProxy } from "#test/support/fleet/tls-rig";
import { folderSettings } from "#test/support/folder-settings";
import { eventually, pushClient } from "#test/support/push-rig";
import { apiKey, channel, manifest, secret } from "#test/support/resilience/manifests";
import { waitFor } from "#test/support/wait-for";
import { sha256Of, wireKey } from "#test/support/wire-objects";

const log = { info() {}, warn() {}, error() {} };
/** What a proxy of an older version says in its hello. */
const none: readonly string[] = [];
/** The capability that the tests of keys use. */
const ofKeys = "key.maxInFlight";
const concurrency = { maxInFlight: 4 };
/** So long a proxy that left is held for one that comes back. */
const graceMs = 1_000;
const push = { heartbeatMs: 100, deadMs: graceMs };

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

describe("an operator with a connected proxy that is too old", () => {
  let folder: string;
  let operator: RunningOperator;
  let clients: PushClient[];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "tollgate-old-proxy-"));
    await mkdir(join(folder, "manifests"));
    await write("main");
    const settings = folderSettings(join(folder, "manifests"), join(folder, "data"), { push });
    operator = await runOperator(settings, { log });
    clients = [];
  });
  afterEach(async () => {
    for (const client of clients) await client.close();
    await operator.close();
    await rm(folder, { recursive: true, force: true });
  });

  const write = (name: string, spec: object = {}) =>
    writeFile(join(folder, "manifests", `${name}.yaml`), JSON.stringify(apiKey(name, spec)));
  const writeChannel = (spec: object = {}) =>
    writeFile(
      join(folder, "manifests", "models.yaml"),
      manifest(secret(), channel("models", "https://models.example", spec)),
    );
  const channelIn = (store: SnapshotStore) => store.pin().channel("default/models");
  const keyIn = (store: SnapshotStore, name: string) => store.pin().keyByName("default", name);

  async function connect(proxy: string, capabilities?: readonly string[]) {
    const store = new SnapshotStore();
    const transport = unixSocketTransport({ socketPath: operator.addresses.pushSocket, replyTimeoutMs: 5_000 });
    const client = pushClient(transport, store, { proxy, ...(capabilities && { capabilities }) });
    clients.push(client);
    client.start();
    await eventually("the proxy is ready", () => store.isReady);
    return { store, client };
  }

  const programmed = (name: string) => condition(name, "Programmed");

  async function condition(name: string, wanted: string, kind = "ApiKey"): Promise<Condition | undefined> {
    const text = await readFile(join(folder, "data", "status", kind, "default", `${name}.yaml`), "utf8");
    const conditions: Condition[] = parse(text).status.conditions;
    return conditions.find(({ type }) => type === wanted);
  }
  const isProgrammed = (name: string) =>
    waitFor(`${name} programmed`, async () => (await programmed(name))?.status === "True");
  const isTooNew = (name: string) =>
    waitFor(`${name} held back`, async () => (await programmed(name))?.reason === "ProxyTooOld");

  it("sends a new key to nobody until the old proxy is replaced, and says who is in the way and what to do", async () => {
    const old = await connect("proxy-old", none);
    const young = await connect("proxy-young");
    await write("limited", { concurrency });
    await isTooNew("limited");
    await write("plain");
    await eventually("what needs nothing", () => keyIn(old.store, "plain") !== undefined);
    await isProgrammed("plain");
    assert.deepEqual([keyIn(old.store, "limited"), keyIn(young.store, "limited")], [undefined, undefined]);
    assert.deepEqual(old.store.rejects, [], "it was never shown what it cannot take");
    const { status, message } = (await programmed("limited")) ?? {};
    assert.equal(status, "False");
    assert.match(
      message ?? "",
      /^All proxies deny the key until then: .*spec\.concurrency\.maxInFlight unknown to proxy-old\. Upgrade these/,
    );
    const active = await condition("limited", "Active");
    assert.deepEqual([active?.status, active?.reason], ["False", "NotYetValid"]);

    // The same pod with a new image.
    await old.client.close();
    await eventually("sent soon", () => keyIn(young.store, "limited")?.maxInFlight === 4, graceMs + 1_000);
    const upgraded = await connect("proxy-old");
    await eventually("known to the new one", () => keyIn(upgraded.store, "limited") !== undefined);
    await isProgrammed("limited");
  });

  it("keeps what a key grants while an edit waits, and revokes it at once when it is suspended", async () => {
    const old = await connect("proxy-old", none);
    const young = await connect("proxy-young");
    await write("main", { concurrency });
    await isTooNew("main");
    for (const { store } of [old, young]) assert.deepEqual(keyIn(store, "main")?.maxInFlight, undefined);
    for (const { store } of [old, young]) assert.equal(keyIn(store, "main")?.state, "Active");
    await write("main", { concurrency, state: "Suspended" });
    for (const { store } of [old, young]) {
      await eventually("revoked", () => keyIn(store, "main")?.state !== "Active", 1_000);
    }
    await old.client.close();
    await eventually("suspended", () => keyIn(young.store, "main")?.state === "Suspended", graceMs + 1_000);
    await isProgrammed("main");
  });

  it("does not wait for proxies that are gone, nor believe that one which was cut off has been upgraded", async () => {
    const young = await connect("proxy-young");
    const old = await connect("proxy-old", none);
    await write("main", { concurrency });
    await isTooNew("main");
    await old.client.close();
    const again = await connect("proxy-old", none);
    assert.equal(keyIn(again.store, "main")?.state, "Active", "still the version before");
    assert.equal(keyIn(young.store, "main")?.maxInFlight, undefined, "for the other one as well");
    await again.client.close();
    const upgraded = await connect("proxy-old");
    assert.equal(keyIn(upgraded.store, "main")?.maxInFlight, 4, "in its first transaction");
    await isProgrammed("main");
  });

  it("keeps the version of a channel from before while an edit waits, and sends no new one", async () => {
    const old = await connect("proxy-old", none);
    const young = await connect("proxy-young");
    const programmedChannel = () => condition("models", "Programmed", "Channel");
    const formats = [{ type: "Rerank", path: "/rerank" }];
    await writeChannel({ formats });
    await waitFor("the channel is programmed", async () => (await programmedChannel())?.status === "True");
    await writeChannel({ formats: [{ ...formats[0], dialect: "Voyage" }] });
    await waitFor("held back", async () => (await programmedChannel())?.reason === "ProxyTooOld");
    const { status, message } = (await programmedChannel()) ?? {};
    assert.equal(status, "False");
    assert.match(
      message ?? "",
      /^The previous version stays in force on all proxies: spec\.formats\[\]\.dialect unknown to proxy-old\. Upgrade/,
    );
    for (const { store } of [old, young]) assert.deepEqual(channelIn(store)?.formats, formats);
    assert.deepEqual(old.store.rejects, [], "it was never shown what it cannot take");

    await writeChannel({ formats: [{ ...formats[0], dialect: "Voyage" }], state: "Disabled" });
    for (const { store } of [old, young]) await eventually("withdrawn", () => channelIn(store) === undefined, 1_000);
    await waitFor("no longer before", async () => (await programmedChannel())?.message.startsWith("No proxy uses it"));

    await old.client.close();
    await eventually("sent soon", () => channelIn(young.store)?.formats[0]?.dialect === "Voyage", graceMs + 1_000);
    await waitFor("programmed", async () => (await programmedChannel())?.status === "True");
  });

  it("names the old proxy too where it came after the key had gone out and denies it", async () => {
    const young = await connect("proxy-young");
    await write("main", { concurrency });
    await isProgrammed("main");
    await eventually("served", () => keyIn(young.store, "main")?.maxInFlight === 4);
    const { store, client } = await connect("proxy-old", none);
    // The validator of its version would say so; this one knows the field.
    const reject = { id: "key/default/main", severity: "denied", code: "invalid_object", message: "unknown" } as const;
    store.commit({ snapshot: store.live, epoch: 1, rejects: [reject], applyMs: 0 });
    await write("plain");
    await isTooNew("main");
    assert.equal(keyIn(young.store, "main")?.maxInFlight, 4, "nothing is taken from those who understand it");
    await client.close();
    await isProgrammed("main");
  });
});

describe("several operators with a proxy that is too old", () => {
  const one = wireKey("one");
  const limited = wireKey("one", concurrency);
  let rig: TlsRig;

  beforeEach(async () => {
    rig = await TlsRig.start({ heartbeatMs: 200 });
  });
  afterEach(() => rig.close());

  const keyOf = ({ store }: TlsRigProxy, name = "one") => store.pin().findKey(sha256Of(`sk-${name}`))?.key;

  it("hold back together what a proxy of one of them does not know, and the leader says so", async () => {
    const leader = await rig.operator("operator-a", [one]);
    const follower = await rig.operator("operator-b", [one]);
    rig.lead(leader);
    const atLeader = await rig.proxy("proxy-1", { addresses: [leader.address] });
    const young = await rig.proxy("proxy-2", { addresses: [follower.address] });
    const old = await rig.proxy("proxy-old", { addresses: [follower.address], capabilities: none });
    await eventually("all heard", () => leader.fleet.readyCount === 3 && leader.fleet.lacked.has(ofKeys));
    const neighbour = neighbourOf("one");
    for (const { publish } of [leader, follower]) publish([limited, wireKey(neighbour)]);

    const state = (name: string) => leader.fleet.acknowledgementOf(`key/team-a/${name}`);
    await eventually("told", () => state("one").state === "ProxyTooOld");
    assert.deepEqual(state("one").tooOld, {
      fields: ["spec.concurrency.maxInFlight"],
      proxies: ["proxy-old"],
      inForce: "before",
    });
    await eventually("its neighbour is live everywhere", () => state(neighbour).state === "Programmed");
    for (const proxy of [atLeader, young, old]) assert.deepEqual(keyOf(proxy), one);

    await old.close();
    for (const proxy of [young, atLeader]) {
      await eventually("sent", () => keyOf(proxy)?.maxInFlight === concurrency.maxInFlight);
    }
    await eventually("programmed", () => state("one").state === "Programmed");
  });

  it("tell followers what a proxy of the leader does not know, and serve on where leadership changes", async () => {
    const leader = await rig.operator("operator-a", [one]);
    const follower = await rig.operator("operator-b", [one]);
    rig.lead(leader);
    const old = await rig.proxy("proxy-old", { addresses: [leader.address], capabilities: none });
    const young = await rig.proxy("proxy-1", { addresses: [follower.address] });
    await eventually("the follower has heard", () => follower.fleet.lacked.has(ofKeys));
    for (const { publish } of [leader, follower]) publish([limited]);
    rig.lead(follower);
    await eventually("the new leader is told", () => {
      return follower.fleet.acknowledgementOf("key/team-a/one").tooOld?.proxies.includes("proxy-old") === true;
    });
    assert.deepEqual([keyOf(old), keyOf(young)], [one, one]);
  });

  it("compare what proxies hold where one of them knows no version from before", async () => {
    const leader = await rig.operator("operator-a", [one]);
    rig.lead(leader);
    const old = await rig.proxy("proxy-old", { addresses: [leader.address], capabilities: none });
    await eventually("served", () => keyOf(old) !== undefined);
    const neighbour = neighbourOf("one");
    leader.publish([limited, wireKey(neighbour)]);
    // As after a restart: nobody was connected when it read the source.
    const follower = await rig.operator("operator-b", [limited, wireKey(neighbour)]);
    const young = await rig.proxy("proxy-1", { addresses: [follower.address] });
    const state = (name: string) => leader.fleet.acknowledgementOf(`key/team-a/${name}`);
    await eventually("the neighbour is live everywhere", () => {
      return state(neighbour).state === "Programmed" && state(neighbour).readyProxies === 2;
    });
    assert.equal(state("one").state, "ProxyTooOld");
    assert.deepEqual([keyOf(old), keyOf(young)?.maxInFlight], [one, concurrency.maxInFlight]);
  });

  /** A key in the same bucket, whose sum is all that tells whether it has been acknowledged elsewhere. */
  function neighbourOf(name: string): string {
    for (let index = 0; ; index += 1) {
      if (bucketOf(`key/team-a/n${index}`) === bucketOf(`key/team-a/${name}`)) return `n${index}`;
    }
  }
});
