/**
 * Two releases that both watch a namespace and know different things of it: each puts right what the other wrote. The
 * writes stay few (T9), a change of spec is told at once all the same, and both say what is the matter.
 */
import assert from "node:assert/strict";
import type { ControlPlane } from "#test/support/kube-control-plane";
import { ClusterRig, type OperatorUnderTest } from "#test/support/kubernetes/cluster-rig";
import { controlPlaneOrSkip } from "#test/support/kubernetes/control-plane-or-skip";
import { applyAll } from "#test/support/kubernetes/objects";
import { operatorAccount } from "#test/support/kubernetes/operator-account";
import { eventsOf, messageOf, statusOf, waitForCondition } from "#test/support/kubernetes/status-of";
import { channel, route, secret } from "#test/support/resilience/manifests";
import { waitFor } from "#test/support/wait-for";

const namespace = "tollgate-system";

describe("two releases that watch one namespace", function () {
  this.timeout(60_000);
  let plane: ControlPlane;
  let rig: ClusterRig;
  const operators: OperatorUnderTest[] = [];

  const release = async (name: string, watchNamespaces?: readonly string[]): Promise<void> => {
    const kubeconfig = await operatorAccount(plane, namespace, name, { ...(watchNamespaces && { watchNamespaces }) });
    const watched = watchNamespaces ? [`--kubernetes-watch-namespaces=${watchNamespaces.join()}`] : [];
    const flags = [`--kubernetes-namespace=${namespace}`, `--lease-name=${name}`, ...watched];
    const operator = await rig.startOperator(name, { kubeconfig, flags });
    await operator.waitUntilReady();
    operators.push(operator);
  };
  const away = { targets: [{ name: "x", channelRef: { name: "up", namespace: "team-a" } }] };
  const routeTo = (spec: object) => ({ ...route("m", []), spec: { ...away, ...spec } });
  /** Writes of the route's status that the API server took, by each release. */
  const writes = async (): Promise<number[]> => {
    const log = await plane.auditLog();
    return operators.map(
      ({ name }) =>
        log.filter(
          ({ user, verb, subresource, uri, status = 0 }) =>
            user === `system:serviceaccount:${namespace}:${name}` &&
            verb === "patch" &&
            subresource === "status" &&
            uri.includes("/modelroutes/m/") &&
            status < 300,
        ).length,
    );
  };

  before(async function () {
    plane = await controlPlaneOrSkip(this);
    await plane.installCrds();
    for (const name of [namespace, "team-a"]) await plane.must("POST", "/api/v1/namespaces", { metadata: { name } });
    rig = new ClusterRig(plane);
    await release("narrow", ["default"]);
  });

  after(async () => {
    await rig?.close();
    await plane?.stop();
  });

  it("one alone says of a channel that it does not watch its namespace", async () => {
    const inTeam = (object: object) => ({ ...object, metadata: { name: "up", namespace: "team-a" } });
    const { metadata } = secret() as { metadata: { name: string } };
    await applyAll(plane, [
      { ...secret(), metadata: { ...metadata, namespace: "team-a" } },
      inTeam(channel("up", 9)),
      routeTo({}),
    ]);
    await waitForCondition(plane, "ModelRoute", "m", "ResolvedRefs", "False ChannelNotFound");
    assert.match(await messageOf(plane, "ModelRoute", "m", "ResolvedRefs"), /does not watch; add team-a to/);
  });

  it("write little, and both tell of each other", async () => {
    await release("wide");
    const said = /another operator also writes the status of ModelRoute default\/m, because two releases/i;
    await waitFor("both to say so", () => operators.every(({ output }) => said.test(output)), { deadlineMs: 20_000 });
    const counts = await writes();
    for (const count of counts) assert.ok(count >= 3 && count <= 7, `${counts.join()} writes`);
    const [told] = await waitFor("the Event", async () => {
      const events = (await eventsOf(plane, "m")).filter(({ reason }) => reason === "StatusContested");
      return events.length > 0 && events;
    });
    assert.match(told?.note ?? "", said);
    for (const { output } of operators) assert.equal(output.match(new RegExp(said, "gi"))?.length, 1);
  });

  it("write at once about a new spec", async () => {
    const before = await writes();
    await applyAll(plane, [routeTo({ visibility: "Unlisted" })]);
    await waitFor(
      "the generation",
      async () => (await statusOf(plane, "ModelRoute", "m"))["observedGeneration"] === 2,
      { deadlineMs: 2_000 },
    );
    const since = (await writes()).map((count, index) => count - (before[index] ?? 0));
    assert.ok(Math.max(...since) <= 3, since.join());
  });
});
