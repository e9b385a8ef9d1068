/** docs/design/reliability.md J11 over TLS: half-open connections, and a whole fleet that comes back at once. */

import assert from "node:assert/strict";
import { FaultRelay } from "#test/support/fault-relay";
import { TlsRig, type TlsRigProxy } from "#test/support/fleet/tls-rig";
import { showFigure } from "#test/support/shown-figures";
import { waitFor } from "#test/support/wait-for";
import { sha256Of, wireKey } from "#test/support/wire-objects";

const isLive = ({ store }: TlsRigProxy, name: string) => store.pin().findKey(sha256Of(`sk-${name}`)) !== undefined;

describe("push connections over TLS (J11)", function () {
  this.timeout(60_000);
  let rig: TlsRig;
  let relay: FaultRelay | undefined;

  afterEach(async () => {
    await rig.close();
    await relay?.close();
    relay = undefined;
  });

  it("takes back fifty proxies that come at once, all in sync within five seconds", async () => {
    rig = await TlsRig.start();
    const objects = Array.from({ length: 500 }, (_, index) => wireKey(`key-${index}`));
    const [one, two] = [await rig.operator("operator-a", objects), await rig.operator("operator-b", objects)];
    const names = Array.from({ length: 50 }, (_, index) => `proxy-${index}`);
    const proxies = await Promise.all(names.map((name) => rig.proxy(name, { addresses: [one.address] })));
    await waitFor("all served", () => one.fleet.ownReadyCount === 50, { deadlineMs: 20_000 });
    for (const proxy of proxies) proxy.addresses = [two.address];
    const goneAt = performance.now();
    const cpuBefore = process.cpuUsage();
    await one.close();
    await waitFor("all at the other", () => two.fleet.ownReadyCount === 50, { deadlineMs: 10_000 });
    const tookMs = performance.now() - goneAt;
    const { user, system } = process.cpuUsage(cpuBefore);
    showFigure(`in sync after ${Math.round(tookMs)} ms, ${Math.round((user + system) / 1_000)} ms of CPU for all ends`);
    assert.ok(tookMs <= 5_000, `${Math.round(tookMs)} ms`);
    const times = proxies.map(({ events }) => events.filter(({ type }) => type === "connected").length);
    assert.ok(
      times.every((count) => count === 2),
      "each came back once",
    );
    two.publish([...objects, wireKey("after")]);
    await waitFor("a change everywhere", () => proxies.every((proxy) => isLive(proxy, "after")));
  });

  it("finds a half-open connection on both sides, and the others notice nothing", async () => {
    rig = await TlsRig.start({ heartbeatMs: 200, deadMs: 600 });
    const operator = await rig.operator("operator-a", [wireKey("one")]);
    rig.lead(operator);
    rig.expect("proxy-0", "proxy-1");
    relay = await FaultRelay.start({ host: operator.address, port: rig.port });
    const behind = await rig.proxy("proxy-0", { addresses: ["127.0.0.1"], port: relay.port });
    const beside = await rig.proxy("proxy-1");
    await waitFor("both served", () => operator.fleet.ownReadyCount === 2);
    relay.stall();
    const stalledAt = performance.now();
    operator.publish([wireKey("one"), wireKey("two")]);
    await waitFor("the change beside it", () => isLive(beside, "two"));
    assert.equal(operator.fleet.acknowledgementOf("key/team-a/two").state, "Pending");
    await waitFor("the proxy to notice", () => behind.events.some(({ type }) => type === "disconnected"));
    await waitFor("the operator to notice", () => operator.fleet.connectionCount === 1);
    const tookMs = performance.now() - stalledAt;
    assert.ok(tookMs <= 600 + 2 * 200 + 1_000, `${Math.round(tookMs)} ms`);
    assert.deepEqual(operator.fleet.acknowledgementOf("key/team-a/two").missing, ["proxy-0 (not connected)"]);
    assert.equal(isLive(behind, "one"), true, "it serves on");
    relay.reset();
    relay.resume();
    await waitFor("it to be back", () => isLive(behind, "two"), { deadlineMs: 10_000 });
    await waitFor("its word", () => operator.fleet.acknowledgementOf("key/team-a/two").state === "Programmed");
    assert.ok(!beside.events.some(({ type }) => type === "disconnected"));
  });
});
