/**
 * Several operators and proxies over TLS in front of a real API server: who is let in, what counts as programmed, and
 * that operators come and go unnoticed.
 */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ClusterFleet, type FleetProxy, ownNamespace } from "#test/support/fleet/cluster-fleet";
import type { ControlPlane } from "#test/support/kube-control-plane";
import type { OperatorUnderTest } from "#test/support/kubernetes/cluster-rig";
import { controlPlaneOrSkip } from "#test/support/kubernetes/control-plane-or-skip";
import { applyAll } from "#test/support/kubernetes/objects";
import { apiKey } from "#test/support/resilience/manifests";
import { waitFor } from "#test/support/wait-for";

describe("a fleet in a cluster", function () {
  this.timeout(180_000);
  let plane: ControlPlane;
  let fleet: ClusterFleet;
  let proxies: FleetProxy[];

  before(async function () {
    plane = await controlPlaneOrSkip(this);
    await plane.installCrds();
    await applyAll(plane, [apiKey("main")]);
    fleet = await ClusterFleet.start(plane);
    // Proxies first: whoever comes first waits for the others (K6).
    await fleet.show([]);
    const starting = ["proxy-0", "proxy-1", "proxy-2"].map((name) => fleet.proxy(name));
    const operators = await Promise.all([fleet.operator(0), fleet.operator(1)]);
    for (const operator of operators) await operator.waitUntilReady(60_000);
    proxies = await Promise.all(starting);
    for (const { program } of proxies) {
      await waitFor("a proxy to be ready", () => program.isReady(), { deadlineMs: 30_000 });
    }
  });
  after(async () => {
    await fleet?.close();
    await plane?.stop();
  });

  const connected = async (operator: OperatorUnderTest) => operator.metric("tollgate_push_connections");

  it("gives the leader a view of all proxies, wherever they are connected", async () => {
    const leader = await fleet.leader();
    await waitFor("all proxies in the leader's view", async () => (await leader.fleet()).proxies.length === 3);
    const total = (await Promise.all(fleet.operators.map(connected))).reduce((sum, count) => sum + count, 0);
    assert.equal(total, 3);
    await waitFor("the pods", async () => (await leader.metric("tollgate_fleet_expected_proxies")) === 3);
    assert.equal(await leader.metric("tollgate_fleet_unconnected_proxies"), 0);
    assert.equal(await leader.metric("tollgate_fleet_ready_proxies"), 3);
  });

  it("names a ready pod that never connected", async () => {
    const leader = await fleet.leader();
    const path = `/api/v1/namespaces/${ownNamespace}/pods`;
    await makeReadyPod("silent");
    await waitFor("it to be missed", async () => (await leader.metric("tollgate_fleet_unconnected_proxies")) === 1);
    assert.equal(await leader.metric("tollgate_fleet_ready_proxies"), 4);
    await plane.must("DELETE", `${path}/silent?gracePeriodSeconds=0`);
    await waitFor("it to be forgotten", async () => (await leader.metric("tollgate_fleet_unconnected_proxies")) === 0);
  });

  it("calls a key programmed when every proxy holds it, and a pod that never connected holds it up (J12)", async () => {
    const key = (name: string) => `/apis/tollgate.dev/v1alpha1/namespaces/default/apikeys/${name}`;
    const programmed = async (name: string): Promise<{ status: string; message: string } | undefined> => {
      const { body } = await plane.call("GET", key(name));
      const conditions = JSON.parse(JSON.stringify(body)).status?.conditions ?? [];
      return conditions.find(({ type }: { type: string }) => type === "Programmed");
    };
    await waitFor("the first key", async () => (await programmed("main"))?.status === "True", { deadlineMs: 20_000 });
    await makeReadyPod("silent");
    const leader = await fleet.leader();
    await waitFor("it to be missed", async () => (await leader.metric("tollgate_fleet_unconnected_proxies")) === 1);
    await applyAll(plane, [apiKey("held-up")]);
    await waitFor("its status", async () => (await programmed("held-up"))?.status === "False", { deadlineMs: 20_000 });
    await waitFor("the three others", async () => {
      const views = await leader.fleet();
      return new Set([views.digest, ...views.proxies.map(({ digest }) => digest)]).size === 1;
    });
    assert.equal((await programmed("held-up"))?.status, "False");
    assert.match((await programmed("held-up"))?.message ?? "", /of 4 ready proxies/);
    assert.equal((await programmed("main"))?.status, "True", "what was programmed before stays so");
    await plane.must("DELETE", `/api/v1/namespaces/${ownNamespace}/pods/silent?gracePeriodSeconds=0`);
    await waitFor("it to be programmed", async () => (await programmed("held-up"))?.status === "True", {
      deadlineMs: 20_000,
    });
    await plane.must("DELETE", key("held-up"));
  });

  for (const row of [
    {
      name: "the token of another account",
      token: async () => {
        await plane.createAccount(ownNamespace, "stranger", {});
        return fleet.tokenOfPod("stranger", "stranger", await podOf("stranger", "stranger"));
      },
      reason: "wrong_account",
    },
    {
      name: "a token for the API server",
      token: () =>
        fleet.tokenOfPod("tollgate-proxy", "proxy-0", fleet.uidOf("proxy-0"), "https://kubernetes.default.svc"),
      reason: "wrong_audience",
    },
    {
      name: "another proxy's token",
      token: () => fleet.tokenOfPod("tollgate-proxy", "proxy-0", fleet.uidOf("proxy-0")),
      reason: "wrong_pod",
    },
    {
      name: "the token of a pod that is gone",
      token: async () => {
        const token = await fleet.tokenOfPod("tollgate-proxy", "leaver", await podOf("leaver", "tollgate-proxy"));
        await plane.must("DELETE", `/api/v1/namespaces/${ownNamespace}/pods/leaver?gracePeriodSeconds=0`);
        return token;
      },
      reason: "not_authenticated",
    },
    {
      name: "a token bound to no pod",
      token: () => plane.tokenOf(ownNamespace, "tollgate-proxy", { audience: "tollgate-push" }),
      reason: "no_pod",
    },
  ]) {
    it(`serves nothing to ${row.name} (J15)`, async () => {
      const tokenFile = join(plane.folder, "impostor.token");
      await writeFile(tokenFile, await row.token());
      const refusals = async () => {
        const counts = fleet.operators.map((operator) =>
          operator.metric("tollgate_push_refused_total", { reason: row.reason }),
        );
        return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
      };
      const before = await refusals();
      const impostor = await fleet.proxy("impostor", { tokenFile });
      try {
        await waitFor("the refusal to be counted", async () => (await refusals()) > before);
        assert.equal(await impostor.program.isReady(), false);
      } finally {
        await fleet.remove("impostor", impostor.program);
      }
    });
  }

  it("moves proxies to the other operator when theirs is killed, and sends them nothing (J1)", async () => {
    // They start side by side, so either may stand first.
    const named = (name: string) => fleet.operators.find((operator) => operator.name === name);
    const [one, two] = [named("operator-0"), named("operator-1")];
    assert.ok(one !== undefined && two !== undefined);
    const published = await two.metric("tollgate_config_publications_total");
    await fleet.show([fleet.addressOf(two)]);
    await one.close();
    await waitFor("all at the other", async () => (await connected(two)) === 3, { deadlineMs: 15_000 });
    await waitFor("it to lead", async () => (await two.metric("tollgate_leader")) === 1, { deadlineMs: 10_000 });
    assert.equal(await two.metric("tollgate_config_publications_total"), published);
    for (const { program } of proxies) assert.equal(await program.isReady(), true);
    const again = await fleet.operator(0);
    await again.waitUntilReady();
  });

  it("lets no proxy wait for a bookmark that comes from an operator which listed later", async () => {
    const earlier = fleet.operators.findLast((operator) => operator.name === "operator-1");
    const former = fleet.operators.findLast((operator) => operator.name === "operator-0");
    assert.ok(earlier !== undefined && former !== undefined);
    await former.close();
    // Versions are the whole store's: what nobody here watches moves them as well.
    for (const name of ["one", "two", "three"])
      await plane.must("POST", "/api/v1/namespaces/default/configmaps", { metadata: { name } });
    const later = await fleet.operator(0);
    await later.waitUntilReady();
    await fleet.show([fleet.addressOf(later)]);
    earlier.signal("SIGSTOP");
    await waitFor("all at the one that listed later", async () => (await connected(later)) === 3, {
      deadlineMs: 15_000,
    });
    earlier.signal("SIGCONT");
    await fleet.show([fleet.addressOf(earlier)]);
    await later.close();
    await waitFor("all at the one that listed earlier", async () => (await connected(earlier)) === 3, {
      deadlineMs: 8_000,
    });
    assert.ok((await earlier.metric("tollgate_watch_relists_total", { reason: "behind" })) > 0);
  });

  /** A pod of the proxies that the cluster calls ready, without a program. */
  async function makeReadyPod(name: string): Promise<void> {
    const labels = { "app.kubernetes.io/component": "proxy" };
    const containers = [{ name: "proxy", image: "none" }];
    const spec = { serviceAccountName: "tollgate-proxy", automountServiceAccountToken: false, containers };
    const path = `/api/v1/namespaces/${ownNamespace}/pods`;
    await plane.must("POST", path, { metadata: { name, labels }, spec });
    const status = JSON.stringify({ status: { conditions: [{ type: "Ready", status: "True" }] } });
    await plane.must("PATCH", `${path}/${name}/status`, status, "application/strategic-merge-patch+json");
  }

  async function podOf(name: string, account: string): Promise<string> {
    const spec = {
      serviceAccountName: account,
      containers: [{ name: "proxy", image: "none" }],
      automountServiceAccountToken: false,
    };
    const pod = await plane.must("POST", `/api/v1/namespaces/${ownNamespace}/pods`, { metadata: { name }, spec });
    return JSON.parse(JSON.stringify(pod)).metadata.uid;
  }
});
