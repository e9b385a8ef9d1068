/**
 * J12 and T9: status is true, is written once for each change of meaning and by the leader alone, and an operator that
 * restarts or takes over writes nothing. Real processes under ServiceAccounts of their own: the audit log tells.
 */
import assert from "node:assert/strict";
import { setTimeout as wait } from "node:timers/promises";
import type { AuditEvent, ControlPlane } from "#test/support/kube-control-plane";
import { ClusterRig, type OperatorUnderTest } from "#test/support/kubernetes/cluster-rig";
import { controlPlaneOrSkip } from "#test/support/kubernetes/control-plane-or-skip";
import { applyAll, createKeys, deleteAll, numberedKey, objectPath } from "#test/support/kubernetes/objects";
import { operatorAccount } from "#test/support/kubernetes/operator-account";
import { conditionOf, eventsOf, statusOf, waitForCondition } from "#test/support/kubernetes/status-of";
import { account, apiKey, channel, route, secret } from "#test/support/resilience/manifests";
import { waitFor } from "#test/support/wait-for";

const namespace = "tollgate-system";
/** Longer than anything waits before it is written. */
const quietMs = 1_500;
/** Longer than a new leader listens for proxies that it has not heard of. */
const settledMs = 4_000;

describe("status in the API server (J12, T9)", function () {
  this.timeout(60_000);
  let plane: ControlPlane;
  let rig: ClusterRig;
  let first: OperatorUnderTest;
  let second: OperatorUnderTest;
  const kubeconfigs = new Map<string, string>();

  const start = async (name: string): Promise<OperatorUnderTest> => {
    const flags = [`--kubernetes-namespace=${namespace}`];
    const started = await rig.startOperator(name, { kubeconfig: kubeconfigs.get(name) ?? "", flags });
    await started.waitUntilReady();
    return started;
  };
  const leads = async (operator: OperatorUnderTest) => (await operator.metric("tollgate_leader")) === 1;
  const waitForLeader = (operator: OperatorUnderTest) =>
    waitFor(`${operator.name} to lead`, () => leads(operator), { deadlineMs: 10_000, everyMs: 20 });
  /** Writes of status so far, also refused ones. */
  const writes = async (by = ""): Promise<AuditEvent[]> =>
    (await plane.auditLog()).filter(
      ({ subresource, verb, user }) =>
        subresource === "status" && verb === "patch" && user.startsWith(`system:serviceaccount:${namespace}:${by}`),
    );
  const nothingIsWritten = async (action: () => Promise<unknown>) => {
    const before = (await writes()).length;
    await action();
    await wait(settledMs);
    const since = (await writes()).slice(before).map(({ user, uri }) => `${user} ${uri}`);
    assert.deepEqual(since.slice(0, 5), []);
  };

  before(async function () {
    plane = await controlPlaneOrSkip(this);
    await plane.installCrds();
    await plane.must("POST", "/api/v1/namespaces", { metadata: { name: namespace } });
    rig = new ClusterRig(plane);
    for (const name of ["operator-a", "operator-b"])
      kubeconfigs.set(name, await operatorAccount(plane, namespace, name));
    first = await start("operator-a");
    await waitForLeader(first);
    second = await start("operator-b");
    // Each operator has a proxy of its own: there is no endpoint over TLS in this rig, by which they would tell.
    for (const [name, { socket }] of [
      ["proxy-0", first],
      ["proxy-1", second],
    ] as const)
      await rig.startProxy(name, socket);
  });

  after(async () => {
    await rig?.close();
    await plane?.stop();
  });

  it("says of each kind what became of it, in one write or two", async () => {
    const objects = [secret(), channel("up", 9), route("m", ["up"]), account("team", { credit: "10" })];
    await applyAll(plane, [...objects, apiKey("main", { accountRef: { name: "team" } })]);
    for (const [kind, name] of [
      ["Channel", "up"],
      ["ModelRoute", "m"],
      ["Account", "team"],
      ["ApiKey", "main"],
    ] as const)
      await waitForCondition(plane, kind, name, "Programmed", "True Programmed");
    assert.equal(await conditionOf(plane, "ModelRoute", "m", "Available"), "True Available");
    assert.equal(await conditionOf(plane, "ApiKey", "main", "Active"), "True Active");
    assert.equal(await conditionOf(plane, "Account", "team", "Funded"), "True Funded");
    await waitFor("the counts", async () => {
      const [team, up] = [await statusOf(plane, "Account", "team"), await statusOf(plane, "Channel", "up")];
      return team["keys"] === 1 && up["routes"] === 1;
    });
    await wait(quietMs);
    // A channel before its route and an account before its key have a count to write again.
    assert.ok((await writes()).length <= 8, String((await writes()).length));
  });

  it("writes once for a new generation", async () => {
    const before = (await writes()).length;
    await applyAll(plane, [apiKey("main", { accountRef: { name: "team" }, displayName: "renamed" })]);
    await waitFor("the generation", async () => (await statusOf(plane, "ApiKey", "main"))["observedGeneration"] === 2);
    await wait(quietMs);
    assert.equal((await writes()).length - before, 1);
    assert.equal(await conditionOf(plane, "ApiKey", "main", "Programmed"), "True Programmed");
  });

  it("writes nothing when the operator restarts", async () => {
    await createKeys(plane, 100);
    for (const index of [0, 50, 99])
      await waitForCondition(plane, "ApiKey", `key-${index}`, "Programmed", "True Programmed");
    await waitFor("all written", async () => (await first.metric("tollgate_status_queue_depth")) === 0);
    for (const signal of ["SIGTERM", "SIGKILL"] as const) {
      await nothingIsWritten(async () => {
        for (const operator of [first, second]) operator.signal(signal);
        for (const operator of [first, second]) await operator.ended();
        first = await start("operator-a");
        await waitForLeader(first);
        second = await start("operator-b");
        await waitFor("the proxy to be back", async () => (await first.fleet()).proxies.some(({ isReady }) => isReady));
      });
    }
    assert.equal(await first.metric("tollgate_status_writes_total"), 0);
    await deleteAll(plane, "ApiKey");
  });

  it("puts right what somebody else wrote", async () => {
    const patch = { status: { conditions: [], model: "nonsense" } };
    await plane.must(
      "PATCH",
      `${objectPath("ModelRoute", "default", "m")}/status`,
      patch,
      "application/merge-patch+json",
    );
    await waitForCondition(plane, "ModelRoute", "m", "Available", "True Available");
    assert.equal((await statusOf(plane, "ModelRoute", "m"))["model"], "m");
  });

  it("tells in an Event what a person should mend, and that it is mended, once each", async () => {
    const credentials = [{ name: "current", secretKeyRef: { name: "late", key: "apiKey" } }];
    await applyAll(plane, [apiKey("waiting", { credentials })]);
    await waitForCondition(plane, "ApiKey", "waiting", "ResolvedRefs", "False SecretNotFound");
    await waitFor("the warning", async () => (await eventsOf(plane, "waiting")).length === 1);
    const metadata = { name: "late", namespace: "default" };
    const stringData = { apiKey: `sk-${"late".repeat(8)}` };
    await applyAll(plane, [{ apiVersion: "v1", kind: "Secret", metadata, stringData }]);
    await waitForCondition(plane, "ApiKey", "waiting", "Active", "True Active");
    const events = await waitFor("both Events", async () => {
      const told = await eventsOf(plane, "waiting");
      return told.length === 2 && told;
    });
    assert.deepEqual(events.map(({ type, reason }) => `${type} ${reason}`).sort(), [
      "Normal Resolved",
      "Warning SecretNotFound",
    ]);
    for (const { note } of events) assert.ok(!note.includes("sk-"), note);
  });

  it("says that a Secret has to be created where the installation makes no keys", async () => {
    await applyAll(plane, [apiKey("made", { credentials: [{ name: "one", generate: { secretName: "made-key" } }] })]);
    await waitForCondition(plane, "ApiKey", "made", "ResolvedRefs", "False SecretNotFound");
  });

  it("names the winner of a conflict, in the condition and in an Event", async () => {
    await applyAll(plane, [numberedKey(1)]);
    const { spec } = numberedKey(1) as { spec: object };
    await waitForCondition(plane, "ApiKey", "key-1", "Accepted", "True Valid");
    await applyAll(plane, [{ ...apiKey("twin"), spec }]);
    await waitForCondition(plane, "ApiKey", "twin", "Accepted", "False Conflicted");
    const [event] = await waitFor("the Event", async () => {
      const told = await eventsOf(plane, "twin");
      return told.length > 0 && told;
    });
    assert.match(event?.note ?? "", /default\/key-1/);
  });

  it("hands over without a write, and the next leader writes what comes", async () => {
    await nothingIsWritten(async () => {
      first.signal("SIGTERM");
      await first.ended();
      await waitForLeader(second);
    });
    await applyAll(plane, [apiKey("next")]);
    await waitForCondition(plane, "ApiKey", "next", "Accepted", "True Valid");
    first = await start("operator-a");
  });

  it("writes through nobody but the leader, also when a former one goes on after a pause", async () => {
    second.signal("SIGSTOP");
    try {
      await waitForLeader(first);
      await applyAll(plane, [apiKey("during", { state: "Suspended" })]);
      await waitForCondition(plane, "ApiKey", "during", "Active", "False Suspended");
    } finally {
      second.signal("SIGCONT");
    }
    const before = (await writes("operator-b")).length;
    await applyAll(plane, [apiKey("after")]);
    await waitForCondition(plane, "ApiKey", "after", "Accepted", "True Valid");
    await wait(quietMs);
    assert.equal((await writes("operator-b")).length, before);
    assert.equal(await leads(second), false);
  });

  it("was refused nothing", async () => {
    const refused = (await plane.auditLog()).filter(
      ({ user, status = 0, subresource, resource }) =>
        user.startsWith(`system:serviceaccount:${namespace}:`) &&
        (subresource === "status" || resource === "events") &&
        status >= 400 &&
        // Somebody wrote in between: looked at again.
        status !== 409,
    );
    assert.deepEqual(
      refused.map(({ verb, uri, status }) => `${verb} ${uri} ${status}`),
      [],
    );
  });
});
