/**
 * docs/design/reliability.md K6 and docs/design/operations.md 3.3: programs that start before their peers wait for
 * them, and while the API server is away an operator serves the proxies whose token it knows, also when they have to
 * come back.
 */
import assert from "node:assert/strict";
import { ClusterFleet } from "#test/support/fleet/cluster-fleet";
import type { ControlPlane } from "#test/support/kube-control-plane";
import { controlPlaneOrSkip } from "#test/support/kubernetes/control-plane-or-skip";
import { applyAll } from "#test/support/kubernetes/objects";
import { apiKey } from "#test/support/resilience/manifests";
import { waitFor } from "#test/support/wait-for";

describe("a fleet without an API server", function () {
  this.timeout(240_000);
  let plane: ControlPlane;
  let fleet: ClusterFleet;

  before(async function () {
    plane = await controlPlaneOrSkip(this);
    await plane.installCrds();
    await applyAll(plane, [apiKey("main")]);
    fleet = await ClusterFleet.start(plane);
  });
  after(async () => {
    await fleet?.close();
    await plane?.stop();
  });

  it("comes up when the API server does, whoever was there first", async () => {
    // Mounted while it was still there, as a kubelet has it from before.
    const proxy = await fleet.proxy("proxy-0");
    const start = await fleet.mountOperator(0);
    await plane.kill("kube-apiserver");
    const operator = await start();
    await waitFor("the operator's ports", async () => (await fetch(`${operator.adminOrigin}/healthz`)).ok, {
      deadlineMs: 60_000,
    });
    assert.equal(await operator.isReady(), false);
    assert.equal(await proxy.program.isReady(), false);
    await plane.start("kube-apiserver");
    await waitFor("the proxy to be served", () => proxy.program.isReady(), { deadlineMs: 60_000 });
    assert.equal(operator.process.exitCode, null);
  });

  it("takes back a proxy whose token it knows, and lets nobody new in, until the API server is back", async () => {
    const [operator] = fleet.operators;
    const [proxy] = fleet.proxies;
    assert.ok(operator !== undefined && proxy !== undefined);
    const connections = () => operator.metric("tollgate_push_connections");
    await waitFor("the proxy", async () => (await connections()) === 1);
    const newcomer = await fleet.mountProxy("proxy-1");
    await plane.kill("kube-apiserver");
    const count = () => proxy.program.output.match(/"message":"disconnected"/g)?.length ?? 0;
    const before = count();
    operator.signal("SIGSTOP");
    await waitFor("the proxy to find its operator silent", () => count() > before, { deadlineMs: 20_000 });
    operator.signal("SIGCONT");
    await waitFor("the proxy to be back", async () => (await connections()) === 1, { deadlineMs: 20_000 });
    assert.equal(await proxy.program.isReady(), true);

    const { program } = await newcomer();
    const refused = /"reason":"the operator replied with status 503"/;
    await waitFor("the newcomer to be told to wait", () => refused.test(program.output), { deadlineMs: 30_000 });
    assert.equal(await program.isReady(), false);
    await plane.start("kube-apiserver");
    await waitFor("the newcomer to be served", () => program.isReady(), { deadlineMs: 30_000 });
  });
});
