/**
 * J10, J12 and T9 with a fleet as it is: several operators, proxies that are pods and connect over TLS wherever they
 * like. The leader knows of all of them, says true only when each has a version, and nobody writes without a change.
 */
import assert from "node:assert/strict";
import { setTimeout as wait } from "node:timers/promises";
import { FakeUpstream } from "#test/support/fake-upstream";
import { ClusterFleet, type FleetProxy, ownNamespace } from "#test/support/fleet/cluster-fleet";
import type { ControlPlane } from "#test/support/kube-control-plane";
import type { OperatorUnderTest } from "#test/support/kubernetes/cluster-rig";
import { controlPlaneOrSkip } from "#test/support/kubernetes/control-plane-or-skip";
import { applyAll, createKeys } from "#test/support/kubernetes/objects";
import { conditionOf, eventsOf, messageOf, statusOf, waitForCondition } from "#test/support/kubernetes/status-of";
import { call as callGateway } from "#test/support/resilience/call-gateway";
import { formats } from "#test/support/resilience/formats";
import { apiKey, channel, route, secret } from "#test/support/resilience/manifests";
import { waitFor } from "#test/support/wait-for";

const [format = assert.fail("there are formats")] = formats;
const keys = 60;
/** Longer than a leader listens for proxies that it has not heard of. */
const settledMs = 3_500;

describe("status of a fleet (J10, J12, T9)", function () {
  this.timeout(90_000);
  let plane: ControlPlane;
  let fleet: ClusterFleet;
  let upstream: FakeUpstream;
  let proxies: FleetProxy[];
  const operators = new Map<number, OperatorUnderTest>();

  /** Writes of status so far, by whom and of what. */
  const writes = async (): Promise<string[]> =>
    (await plane.auditLog())
      .filter(
        ({ subresource, verb, user }) => subresource === "status" && verb === "patch" && user.includes(ownNamespace),
      )
      .map(({ uri }) => uri.split("?")[0] ?? "");
  const waitUntilQuiet = async () => {
    let before = -1;
    await waitFor(
      "writes to end",
      async () => {
        const count = (await writes()).length;
        const isQuiet = count === before;
        before = count;
        return isQuiet;
      },
      { deadlineMs: 20_000, everyMs: 1_500 },
    );
  };

  before(async function () {
    plane = await controlPlaneOrSkip(this);
    await plane.installCrds();
    upstream = await FakeUpstream.start({ body: format.reply() });
    fleet = await ClusterFleet.start(plane);
    for (const index of [0, 1]) operators.set(index, await fleet.operator(index));
    proxies = await Promise.all(["proxy-0", "proxy-1", "proxy-2"].map((name) => fleet.proxy(name)));
    for (const { program } of proxies)
      await waitFor("a proxy to be ready", () => program.isReady(), { deadlineMs: 30_000 });
    const limits = [{ name: "three", unit: "Requests", limit: "3", period: "Lifetime" }];
    await applyAll(plane, [secret(), channel("up", upstream.port), route("m", ["up"]), apiKey("main", { limits })]);
    await createKeys(plane, keys);
    await waitForCondition(plane, "ApiKey", `key-${keys - 1}`, "Programmed", "True Programmed", 20_000);
    await waitUntilQuiet();
  });

  after(async () => {
    await fleet?.close();
    await upstream?.close();
    await plane?.stop();
  });

  it("was written twice an object at most: as it came, and as it changed", async () => {
    const byObject = Map.groupBy(await writes(), (uri) => uri);
    for (const [uri, all] of byObject) assert.ok(all.length <= 2, `${uri}: ${all.length}`);
    assert.equal(byObject.size, keys + 3);
  });

  it("says that a quota is used up, whichever operator the proxy reports to", async () => {
    const [proxy = assert.fail("there are proxies")] = proxies;
    for (let count = 0; count < 3; count += 1)
      await callGateway({ port: proxy.program.port, format, model: "m", stream: false });
    await waitForCondition(plane, "ApiKey", "main", "Active", "False QuotaExhausted", 20_000);
    const { usage } = await statusOf(plane, "ApiKey", "main");
    assert.match(JSON.stringify(usage), /"used":"3"/);
    const events = await waitFor("the Event", async () => {
      const told = await eventsOf(plane, "main");
      return told.some(({ reason }) => reason === "QuotaExhausted") && told;
    });
    assert.equal(events.filter(({ reason }) => reason === "QuotaExhausted").length, 1);
    await waitUntilQuiet();
  });

  it("is not written when the operators are rolled, nor when both are killed at once", async () => {
    const before = (await writes()).length;
    for (const index of [0, 1]) {
      operators.get(index)?.signal("SIGTERM");
      await operators.get(index)?.ended();
      operators.set(index, await fleet.operator(index));
      await operators.get(index)?.waitUntilReady(30_000);
      await fleet.leader();
    }
    for (const index of [0, 1]) operators.get(index)?.signal("SIGKILL");
    for (const index of [0, 1]) operators.set(index, await fleet.operator(index));
    const leader = await fleet.leader();
    await waitFor("the proxies to be back", async () => (await leader.metric("tollgate_fleet_ready_proxies")) === 3, {
      deadlineMs: 20_000,
    });
    await wait(settledMs);
    assert.deepEqual((await writes()).slice(before), []);
    assert.equal(await conditionOf(plane, "ApiKey", "main", "Active"), "False QuotaExhausted");
  });

  it("waits for a proxy that hangs, and names it", async () => {
    const hung = proxies[1] ?? assert.fail("there are proxies");
    hung.program.signal("SIGSTOP");
    try {
      await applyAll(plane, [apiKey("late")]);
      await waitForCondition(plane, "ApiKey", "late", "Programmed", "False Pending");
      assert.match(await messageOf(plane, "ApiKey", "late", "Programmed"), /2 of 3 ready proxies; wait for proxy-1/);
    } finally {
      hung.program.signal("SIGCONT");
    }
    await waitForCondition(plane, "ApiKey", "late", "Programmed", "True Programmed", 20_000);
  });

  it("is written by the next leader while one is paused, and not by that one when it goes on", async () => {
    const paused = await fleet.leader();
    const others = [...operators.values()].filter((operator) => operator !== paused);
    paused.signal("SIGSTOP");
    try {
      const next = await waitFor(
        "another leader",
        async () => {
          for (const operator of others) if ((await operator.metric("tollgate_leader")) === 1) return operator;
          return undefined;
        },
        { deadlineMs: 10_000, everyMs: 50 },
      );
      await waitFor("its proxies", async () => (await next.fleet()).proxies.length === 3, { deadlineMs: 20_000 });
      await applyAll(plane, [apiKey("during")]);
      await waitForCondition(plane, "ApiKey", "during", "Programmed", "True Programmed", 20_000);
    } finally {
      paused.signal("SIGCONT");
    }
    await waitFor("the former leader to know", async () => (await paused.metric("tollgate_leader")) === 0);
    await wait(settledMs);
    const written = await paused.metric("tollgate_status_writes_total");
    await applyAll(plane, [apiKey("afterwards")]);
    await waitForCondition(plane, "ApiKey", "afterwards", "Programmed", "True Programmed", 20_000);
    assert.equal(await paused.metric("tollgate_status_writes_total"), written);
  });
});
