/**
 * Status before an API server that misbehaves: refusals of every kind, garbage, silence and death. Keys go on being
 * served at once, nobody is stormed, and in the end every status is true and was written no more than it had to be.
 */
import assert from "node:assert/strict";
import { ApiFaultProxy, type FalseAnswer } from "#test/support/api-fault-proxy";
import type { ControlPlane } from "#test/support/kube-control-plane";
import { ClusterRig, type OperatorUnderTest } from "#test/support/kubernetes/cluster-rig";
import { controlPlaneOrSkip } from "#test/support/kubernetes/control-plane-or-skip";
import { applyAll, createKeys, objectPath } from "#test/support/kubernetes/objects";
import { operatorAccount } from "#test/support/kubernetes/operator-account";
import { conditionOf, namesWith, waitForCondition } from "#test/support/kubernetes/status-of";
import { apiKey } from "#test/support/resilience/manifests";
import { waitFor } from "#test/support/wait-for";

const namespace = "tollgate-system";
const refusal = (status: number, reason: string): string =>
  JSON.stringify({ apiVersion: "v1", kind: "Status", status: "Failure", code: status, reason, message: reason });

describe("status and an API server that misbehaves (J2, J3)", function () {
  this.timeout(60_000);
  let plane: ControlPlane;
  let faults: ApiFaultProxy;
  let rig: ClusterRig;
  let operator: OperatorUnderTest;
  let count = 0;

  before(async function () {
    plane = await controlPlaneOrSkip(this);
    await plane.installCrds();
    await plane.must("POST", "/api/v1/namespaces", { metadata: { name: namespace } });
    faults = await ApiFaultProxy.start(plane);
    rig = new ClusterRig(plane);
    const kubeconfig = await operatorAccount(plane, namespace, "operator-0", { port: faults.port });
    operator = await rig.startOperator("operator-0", { kubeconfig, flags: [`--kubernetes-namespace=${namespace}`] });
    await operator.waitUntilReady();
    await rig.startProxy("proxy-0", operator.socket);
    await applyAll(plane, [apiKey("first")]);
    await waitForCondition(plane, "ApiKey", "first", "Programmed", "True Programmed");
  });

  after(async () => {
    await rig?.close();
    await faults?.close();
    await plane?.stop();
  });

  const writesAsked = () =>
    faults.passed.filter(({ method, resource }) => method === "PATCH" && resource === "apikeys").length;
  const isServed = async (keys: number) => {
    const { keys: held, revision, proxies } = await operator.fleet();
    return held === keys && proxies.every((proxy) => proxy.revision === revision);
  };

  const rows: readonly (FalseAnswer & { readonly name: string; readonly result: string })[] = [
    { name: "429 and a time to wait", status: 429, headers: { "retry-after": "1" }, result: "throttled" },
    { name: "403", status: 403, body: refusal(403, "Forbidden"), result: "forbidden" },
    { name: "500", status: 500, body: refusal(500, "InternalError"), result: "failed" },
    { name: "503 from something in between", status: 503, body: "<html>no backend</html>", result: "failed" },
    { name: "garbage", status: 200, body: "{ half of", result: "failed" },
    { name: "conflicts", status: 409, body: refusal(409, "Conflict"), result: "conflict" },
  ];
  for (const { name, result, ...answer } of rows) {
    it(`bears ${name} to its writes: keys are served, writes wait and are few`, async () => {
      const key = `fault-${(count += 1)}`;
      const failedBefore = await operator.metric("tollgate_status_writes_total", { result });
      const keysBefore = (await operator.fleet()).keys;
      const askedBefore = writesAsked();
      faults.fault = ({ method, resource }) => (method === "PATCH" && resource === "apikeys" ? answer : undefined);
      const beganAt = performance.now();
      await applyAll(plane, [apiKey(key), apiKey("first", { displayName: name })]);
      await waitFor("the key to be served", () => isServed(keysBefore + 1), { deadlineMs: 2_000 });
      await waitFor(
        "refused writes",
        async () => (await operator.metric("tollgate_status_writes_total", { result })) - failedBefore >= 2,
        { deadlineMs: 10_000, everyMs: 50 },
      );
      const asked = writesAsked() - askedBefore;
      const seconds = (performance.now() - beganAt) / 1_000;
      // Two objects; each attempt is followed by a wait that doubles.
      assert.ok(asked <= 4 + 3 * seconds, `${asked} writes in ${seconds.toFixed(1)} s`);
      assert.ok((await operator.metric("tollgate_status_queue_depth")) > 0);
      assert.ok((await operator.metric("tollgate_status_oldest_pending_seconds")) > 0);
      faults.fault = () => undefined;
      await waitForCondition(plane, "ApiKey", key, "Programmed", "True Programmed", 15_000);
      await waitFor("nothing to wait", async () => (await operator.metric("tollgate_status_queue_depth")) === 0, {
        deadlineMs: 15_000,
        everyMs: 50,
      });
    });
  }

  it("writes all that came while the API server was dying, each once more at most", async () => {
    const keys = 150;
    const asked = writesAsked();
    const creating = createKeys(plane, keys);
    await waitFor("the first writes", () => writesAsked() - asked > 10, { deadlineMs: 20_000, everyMs: 1 });
    await creating;
    await plane.kill("kube-apiserver");
    await plane.start("kube-apiserver");
    const written = async () => (await namesWith(plane, "ApiKey", "Programmed", "True Programmed")).length;
    const all = keys + count + 1;
    await waitFor("every status", async () => (await written()) === all, { deadlineMs: 30_000, everyMs: 200 });
    await waitFor("nothing to wait", async () => (await operator.metric("tollgate_status_queue_depth")) === 0, {
      deadlineMs: 30_000,
      everyMs: 50,
    });
    const audited = (await plane.auditLog()).filter(
      ({ subresource, verb, status = 0, uri }) =>
        subresource === "status" && verb === "patch" && status < 300 && uri.includes("/key-"),
    );
    const byObject = Map.groupBy(audited, ({ uri }) => uri);
    // What the server had taken when it was killed may be missing from its log: no more than was in flight.
    assert.ok(byObject.size >= keys - 8, `${byObject.size}`);
    for (const [uri, writes] of byObject) assert.ok(writes.length <= 2, `${uri}: ${writes.length}`);
  });

  it("forgets objects that go before their turn", async () => {
    faults.fault = ({ method, resource }) =>
      method === "PATCH" && resource === "apikeys" ? { status: 429, headers: { "retry-after": "1" } } : undefined;
    await applyAll(plane, [apiKey("brief")]);
    await waitFor("it to wait", async () => (await operator.metric("tollgate_status_queue_depth")) > 0);
    await plane.must("DELETE", objectPath("ApiKey", "default", "brief"));
    faults.fault = () => undefined;
    await waitFor("nothing to wait", async () => (await operator.metric("tollgate_status_queue_depth")) === 0, {
      deadlineMs: 15_000,
      everyMs: 50,
    });
    // And made again under its name, it is another.
    await applyAll(plane, [apiKey("brief", { state: "Suspended" })]);
    await waitForCondition(plane, "ApiKey", "brief", "Active", "False Suspended");
    assert.equal(await conditionOf(plane, "ApiKey", "brief", "Programmed"), "True Programmed");
  });
});
