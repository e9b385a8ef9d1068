/** Several operators and proxies over real TLS: certificates, identity, no time travel, one view of the fleet. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { setImmediate as joinBatch } from "node:timers/promises";
import { TlsRig, type TlsRigProxy } from "#test/support/fleet/tls-rig";
import { eventually } from "#test/support/push-rig";
import { sha256Of, wireKey } from "#test/support/wire-objects";

const keyId = "key/team-a/one";

describe("push over TLS", () => {
  let rig: TlsRig;

  beforeEach(async () => {
    rig = await TlsRig.start();
  });
  afterEach(() => rig.close());

  const isLive = ({ store }: TlsRigProxy, name = "one") => store.pin().findKey(sha256Of(`sk-${name}`)) !== undefined;

  it("serves a proxy that proves its pod, and follows changes", async () => {
    const operator = await rig.operator("operator-a", [wireKey("one")]);
    const proxy = await rig.proxy("proxy-1");
    await eventually("the first key", () => isLive(proxy));
    operator.publish([wireKey("one"), wireKey("two")]);
    await eventually("the second key", () => isLive(proxy, "two"));
    operator.publish([wireKey("two")]);
    await eventually("the first key gone", () => !isLive(proxy));
    assert.equal(operator.fleet.acknowledgementOf(keyId).readyProxies, 1);
    assert.equal(rig.issuer.reviews, 1);
  });

  it("renews token and certificate without a word to open streams", async () => {
    const operator = await rig.operator("operator-a", [wireKey("one")]);
    const proxy = await rig.proxy("proxy-1");
    await eventually("acknowledged", () => operator.fleet.ownReadyCount === 1);
    rig.secret.delete();
    await operator.certificates.check();
    await writeFile(proxy.caFile, rig.trusted);
    await writeFile(proxy.tokenFile, rig.issuer.issue({ pod: "proxy-1" }));
    operator.publish([wireKey("one"), wireKey("two")]);
    await eventually("the second key acknowledged", () => {
      return operator.fleet.acknowledgementOf("key/team-a/two").state === "Programmed";
    });
    assert.ok(!proxy.events.some(({ type }) => type === "disconnected"));
    const late = await rig.proxy("proxy-2");
    await eventually("a proxy that comes after", () => isLive(late));
  });

  it("serves on with tokens it knows while the API server is away, and lets nobody new in", async () => {
    const operator = await rig.operator("operator-a", [wireKey("one")]);
    const proxy = await rig.proxy("proxy-1");
    await eventually("the first key", () => isLive(proxy));
    rig.issuer.failure = new Error("connection refused");
    const stranger = await rig.proxy("proxy-2");
    operator.publish([wireKey("two")]);
    await eventually("the change", () => isLive(proxy, "two"));
    await eventually("the stranger is told to wait", () => stranger.events.some(({ type }) => type === "disconnected"));
    assert.equal(stranger.store.isReady, false);
    rig.issuer.failure = undefined;
    await eventually("the stranger is let in", () => isLive(stranger, "two"));
  });

  it("moves its proxies to another operator when it goes, and nothing is sent as nothing changed", async () => {
    const [one, two] = [
      await rig.operator("operator-a", [wireKey("one")]),
      await rig.operator("operator-b", [wireKey("one")]),
    ];
    const proxies = await Promise.all(["1", "2", "3", "4"].map((name) => rig.proxy(`proxy-${name}`)));
    await eventually("all served", () => proxies.every((proxy) => isLive(proxy)));
    await one.close();
    await eventually("all at the other", () => two.fleet.ownReadyCount === proxies.length);
    for (const { events } of proxies) {
      const last = events.filter((event) => event.type === "connected").at(-1);
      if (events.filter((event) => event.type === "connected").length > 1) assert.equal(last?.sync, "none");
    }
  });

  describe("no time travel", () => {
    const at = (version: string) => ({ seen: { ApiKey: version }, complete: { ApiKey: version } });

    it("holds back a replica that lags until it has caught up, so that a deleted key stays deleted", async () => {
      const [one, two] = [
        await rig.operator("operator-a", [wireKey("one"), wireKey("two")], at("100")),
        await rig.operator("operator-b", [wireKey("one"), wireKey("two")], at("100")),
      ];
      const proxy = await rig.proxy("proxy-1", { addresses: [one.address] });
      await eventually("served", () => isLive(proxy));
      one.publish([wireKey("two")], at("105"));
      await eventually("deleted", () => !isLive(proxy));
      const seen: boolean[] = [];
      proxy.store.onEvent(() => seen.push(isLive(proxy)));
      proxy.addresses = [two.address];
      await one.close();
      await eventually("at the replica that lags", () => proxy.events.some(({ type }) => type === "disconnected"));
      const connected = () => proxy.events.filter(({ type }) => type === "connected").length;
      for (let turn = 0; turn < 200; turn += 1) await joinBatch();
      assert.equal(connected(), 1, "told nothing before it has caught up");
      two.publish([wireKey("two")], at("105"));
      await eventually("welcomed", () => connected() === 2);
      await eventually("acknowledged", () => two.fleet.ownReadyCount === 1);
      assert.ok(!seen.includes(true), "the key never came back");
    });

    it("does not lift a revocation that the next operator has not heard of", async () => {
      const [one, two] = [
        await rig.operator("operator-a", [wireKey("one")], at("100")),
        await rig.operator("operator-b", [wireKey("one")], at("100")),
      ];
      const proxy = await rig.proxy("proxy-1", { addresses: [one.address] });
      await eventually("served", () => isLive(proxy));
      proxy.store.revoke({ revision: 2, keys: [keyId], credentials: [], versions: { ApiKey: "101" } });
      proxy.addresses = [two.address];
      await one.close();
      for (let turn = 0; turn < 500; turn += 1) await joinBatch();
      assert.equal(isLive(proxy), false);
      two.publish([], at("101"));
      await eventually("welcomed", () => two.fleet.ownReadyCount === 1);
      assert.equal(isLive(proxy), false);
    });

    it("raises the epoch where the source itself went back, and every proxy follows", async () => {
      const [one, two] = [
        await rig.operator("operator-a", [wireKey("two")], at("500")),
        await rig.operator("operator-b", [wireKey("two")], at("500")),
      ];
      const proxies = [
        await rig.proxy("proxy-1", { addresses: [one.address] }),
        await rig.proxy("proxy-2", { addresses: [two.address] }),
      ];
      await eventually("served", () => proxies.every((proxy) => isLive(proxy, "two")));
      // The backup is from before; the first operator is the one to find out.
      two.sourceWentBack = true;
      two.publish([wireKey("one")], at("300"));
      for (const proxy of proxies) proxy.addresses = [two.address];
      await one.close();
      await eventually("both live in the restored world", () => proxies.every((proxy) => isLive(proxy)));
      assert.ok(proxies.every((proxy) => !isLive(proxy, "two")));
      assert.equal(rig.epochs.data?.["epoch"], "2");
      // And an operator that starts now learns of it from the proxies.
      const three = await rig.operator("operator-c", [wireKey("one")], at("310"));
      // One of the two may not have come back for the new epoch yet.
      three.sourceWentBack = true;
      for (const proxy of proxies) proxy.addresses = [three.address];
      await two.close();
      await eventually("all at the third", () => three.fleet.ownReadyCount === 2);
      assert.equal(rig.epochs.data?.["epoch"], "2", "raised once");
    });
  });

  describe("the view of the fleet", () => {
    it("is programmed when every proxy of every operator acknowledged, and not before", async () => {
      const [one, two] = [
        await rig.operator("operator-a", [wireKey("one")]),
        await rig.operator("operator-b", [wireKey("one")]),
      ];
      rig.lead(one);
      const proxies = [
        await rig.proxy("proxy-1", { addresses: [one.address] }),
        await rig.proxy("proxy-2", { addresses: [two.address] }),
        await rig.proxy("proxy-3", { addresses: [two.address] }),
      ];
      rig.expect("proxy-1", "proxy-2", "proxy-3");
      const { fleet } = one;
      await eventually("programmed", () => fleet.acknowledgementOf(keyId).acknowledgedBy === 3);
      assert.equal(fleet.acknowledgementOf(keyId).state, "Programmed");
      assert.equal(fleet.isStable, true);

      const changed = wireKey("one", { metadata: { a: "b" } });
      one.publish([changed]);
      await eventually("acknowledged by the own one", () => fleet.acknowledgementOf(keyId).acknowledgedBy === 1);
      const pending = fleet.acknowledgementOf(keyId);
      assert.equal(pending.state, "Pending");
      assert.deepEqual([...pending.missing].sort(), ["proxy-2", "proxy-3"]);
      two.publish([changed]);
      await eventually("programmed again", () => fleet.acknowledgementOf(keyId).state === "Programmed");
      assert.equal(proxies.length, 3);
      assert.equal(fleet.view().filter(({ via }) => via === "operator-b").length, 2);
    });

    it("counts a proxy that is ready and never connected", async () => {
      const operator = await rig.operator("operator-a", [wireKey("one")]);
      rig.lead(operator);
      await rig.proxy("proxy-1");
      rig.expect("proxy-1", "proxy-2");
      const { fleet } = operator;
      await eventually("acknowledged by one", () => fleet.acknowledgementOf(keyId).acknowledgedBy === 1);
      assert.deepEqual(fleet.acknowledgementOf(keyId), {
        state: "Pending",
        readyProxies: 2,
        acknowledgedBy: 1,
        rejects: [],
        missing: ["proxy-2 (not connected)"],
      });
      assert.equal(fleet.isStable, false);
      rig.expect("proxy-1");
      assert.equal(fleet.acknowledgementOf(keyId).state, "Programmed");
      assert.match(await operator.registry.metrics(), /^tollgate_fleet_unconnected_proxies 0$/m);
    });

    it("is told anew to whoever leads next, and hands reports of use on", async () => {
      const [one, two] = [
        await rig.operator("operator-a", [wireKey("one")]),
        await rig.operator("operator-b", [wireKey("one")]),
      ];
      rig.lead(one);
      const proxy = await rig.proxy("proxy-1", { addresses: [one.address] });
      await eventually("served", () => one.fleet.ownReadyCount === 1);
      const report = (requests: number) => ({
        type: "report" as const,
        keys: [{ key: "team-a/one", lastUsedAt: 1, requests, quotas: [] }],
        accounts: [],
        ejected: [],
      });
      proxy.client.report(report(1));
      await eventually("taken by the leader itself", () => one.reports.length === 1);
      rig.lead(two);
      await eventually("the new leader knows", () => two.fleet.acknowledgementOf(keyId).state === "Programmed");
      proxy.client.report(report(2));
      await eventually("handed on", () => two.reports.length === 1);
      assert.deepEqual(two.reports[0], { proxy: "proxy-1", report: report(2) });
      assert.equal(one.reports.length, 1);
      await one.close();
      await eventually("gone with its operator", () => two.fleet.view().length === 0);
    });

    it("names what a proxy of another operator refuses", async () => {
      const [one, two] = [
        await rig.operator("operator-a", [wireKey("one")]),
        await rig.operator("operator-b", [wireKey("one")]),
      ];
      rig.lead(one);
      const proxy = await rig.proxy("proxy-1", { addresses: [two.address] });
      await eventually("served", () => isLive(proxy));
      // As a proxy of another version would.
      const reject = { id: keyId, severity: "denied", code: "invalid_object", message: "/state is not known" } as const;
      proxy.store.commit({ snapshot: proxy.store.live, epoch: 1, rejects: [reject], applyMs: 0 });
      two.publish([wireKey("one"), wireKey("two")]);
      one.publish([wireKey("one"), wireKey("two")]);
      await eventually("named", () => one.fleet.acknowledgementOf(keyId).state === "Rejected");
      assert.deepEqual(one.fleet.acknowledgementOf(keyId).rejects, [{ by: "proxy-1", why: "/state is not known" }]);
      assert.ok(one.fleet.rejectedIds().has(keyId));
    });
  });
});
