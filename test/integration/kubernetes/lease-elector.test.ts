/** Leader election against a real API server: one leader at a time, whatever stops, hangs or lies. */
import assert from "node:assert/strict";
import { setTimeout as wait } from "node:timers/promises";
import { ApiClient } from "#operator/kubernetes/api/api-client";
import { leaseResource } from "#operator/kubernetes/api/api-object";
import { ClusterAccess } from "#operator/kubernetes/api/cluster-access";
import { LeaseElector } from "#operator/kubernetes/leader-election/lease-elector";
import { FaultRelay } from "#test/support/fault-relay";
import type { ControlPlane } from "#test/support/kube-control-plane";
import { controlPlaneOrSkip } from "#test/support/kubernetes/control-plane-or-skip";
import { waitFor } from "#test/support/wait-for";

/** A fifth of the real ones. */
const timings = { leaseDurationMs: 3_000, renewDeadlineMs: 2_000, retryPeriodMs: 400 };
const log = { info: () => undefined, warn: () => undefined };

describe("lease elector", function () {
  this.timeout(90_000);
  let plane: ControlPlane;
  let client: ApiClient;
  const open: { close(): Promise<void> }[] = [];
  const leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";

  const elector = (address: string, through = client, podName = `pod-${address}`): LeaseElector => {
    const made = new LeaseElector({
      client: through,
      namespace: "default",
      name: "tollgate",
      address,
      podName,
      timings,
      log,
    });
    open.push(made);
    made.start();
    return made;
  };
  const leader = (made: LeaseElector) => waitFor("a leader", () => made.isLeader(), { deadlineMs: 5_000 });

  before(async function () {
    plane = await controlPlaneOrSkip(this);
    client = new ApiClient(await ClusterAccess.load({ kubeconfig: await plane.kubeconfig() }));
  });

  afterEach(async () => {
    for (const made of open.splice(0)) await made.close();
    await plane?.call("DELETE", `${leases}/tollgate`);
  });

  after(async () => {
    client?.access.close();
    await plane?.stop();
  });

  it("elects one, tells the others where it is, and says in the Lease who holds it", async () => {
    const first = elector("10.0.0.1:8443");
    await leader(first);
    const second = elector("10.0.0.2:8443");
    await waitFor("the address", () => second.leaderAddress() === "10.0.0.1:8443");
    assert.equal(first.leaderAddress(), "10.0.0.1:8443");
    assert.equal(second.isLeader(), false);
    const lease = await client.get(leaseResource, "default", "tollgate");
    const { spec, metadata } = JSON.parse(JSON.stringify(lease));
    assert.equal(spec.holderIdentity, "10.0.0.1:8443");
    assert.equal(metadata.annotations["tollgate.dev/holder-pod"], "pod-10.0.0.1:8443");
  });

  it("hands over within the retry period when it is closed", async () => {
    const first = elector("10.0.0.1:8443");
    await leader(first);
    const second = elector("10.0.0.2:8443");
    await waitFor("the address", () => second.leaderAddress() !== undefined);
    let changes = 0;
    first.onChange(() => (changes += 1));
    await first.close();
    const closedAt = performance.now();
    assert.equal(first.isLeader(), false);
    assert.equal(changes, 1);
    await leader(second);
    assert.ok(performance.now() - closedAt <= timings.retryPeriodMs + 200, `${performance.now() - closedAt} ms`);
    assert.equal(second.transitions, 1);
  });

  it("takes over from one that died within the lease, and not before its deadline", async () => {
    const relay = await FaultRelay.start({ port: plane.port });
    const cut = new ApiClient(await ClusterAccess.load({ kubeconfig: await plane.kubeconfig({ port: relay.port }) }));
    const first = elector("10.0.0.1:8443", cut);
    await leader(first);
    const second = elector("10.0.0.2:8443");
    await waitFor("the address", () => second.leaderAddress() !== undefined);
    relay.stall();
    const lostAt = performance.now();
    let overlap = 0;
    const watch = setInterval(() => (overlap += first.isLeader() && second.isLeader() ? 1 : 0), 5);
    await leader(second);
    const tookMs = performance.now() - lostAt;
    clearInterval(watch);
    assert.equal(first.isLeader(), false);
    assert.equal(overlap, 0);
    assert.ok(tookMs <= timings.leaseDurationMs + 200, `${tookMs} ms`);
    assert.ok(tookMs >= timings.renewDeadlineMs - timings.retryPeriodMs, `${tookMs} ms`);
    relay.resume();
    // Its renewal of before names a version that is gone.
    await waitFor("the former leader to see the new one", () => first.leaderAddress() === "10.0.0.2:8443");
    assert.equal(second.isLeader(), true);
    for (const made of open.splice(0)) await made.close();
    cut.access.close();
    await relay.close();
  });

  it("is no leader after a pause longer than the deadline, at the very moment it goes on", async () => {
    const first = elector("10.0.0.1:8443");
    await leader(first);
    // As SIGSTOP does: no timer fires, the monotonic clock goes on.
    const until = performance.now() + timings.renewDeadlineMs + 50;
    while (performance.now() < until);
    assert.equal(first.isLeader(), false);
    await leader(first);
  });

  it("steps down at once when somebody else stands in the Lease", async () => {
    const first = elector("10.0.0.1:8443");
    await leader(first);
    const patch = { spec: { holderIdentity: "10.9.9.9:1" } };
    await plane.must("PATCH", `${leases}/tollgate`, patch, "application/merge-patch+json");
    await waitFor("it to step down", () => !first.isLeader(), { deadlineMs: timings.retryPeriodMs + 200 });
    await leader(first);
    assert.equal(first.transitions, 1);
  });

  it("makes its Lease anew within the retry period when somebody deletes it, and leads on", async () => {
    const first = elector("10.0.0.1:8443");
    await leader(first);
    let changes = 0;
    first.onChange(() => (changes += 1));
    await plane.must("DELETE", `${leases}/tollgate`);
    const isThere = async () => (await plane.call("GET", `${leases}/tollgate`)).status === 200;
    await waitFor("a new one", isThere, { deadlineMs: timings.retryPeriodMs + 300 });
    assert.deepEqual([first.isLeader(), changes], [true, 0]);
  });

  it("takes its own Lease back after a restart of its process, but not that of another pod with its address", async () => {
    const first = elector("10.0.0.1:8443");
    await leader(first);
    // It dies without giving it back.
    open.splice(0);
    first.onChange(() => undefined);
    const impostor = elector("10.0.0.1:8443", client, "another");
    await wait(timings.retryPeriodMs * 2);
    assert.equal(impostor.isLeader(), false);
    await first.close();
  });

  for (const row of [
    { name: "long past", renewTime: "2001-01-01T00:00:00.000000Z" },
    { name: "far in the future", renewTime: "2099-01-01T00:00:00.000000Z" },
  ]) {
    it(`waits a whole lease by its own clock where the holder's says a time ${row.name} (M2)`, async () => {
      const spec = { holderIdentity: "10.9.9.9:1", leaseDurationSeconds: 3, renewTime: row.renewTime };
      await plane.must("POST", leases, { metadata: { name: "tollgate" }, spec });
      const beganAt = performance.now();
      const first = elector("10.0.0.1:8443");
      await waitFor("the holder to be seen", () => first.leaderAddress() === "10.9.9.9:1");
      await leader(first);
      const tookMs = performance.now() - beganAt;
      assert.ok(tookMs >= timings.leaseDurationMs - 10 && tookMs <= timings.leaseDurationMs + 600, `${tookMs} ms`);
    });
  }

  it("takes over from one that died although somebody labels its Lease more often than it lasts", async () => {
    const spec = { holderIdentity: "10.9.9.9:1", leaseDurationSeconds: 3, renewTime: "2001-01-01T00:00:00.000000Z" };
    await plane.must("POST", leases, { metadata: { name: "tollgate" }, spec });
    let touches = 0;
    const touching = setInterval(() => {
      const patch = { metadata: { labels: { touched: `${(touches += 1)}` } } };
      void plane.call("PATCH", `${leases}/tollgate`, patch, "application/merge-patch+json");
    }, timings.leaseDurationMs / 3);
    try {
      const first = elector("10.0.0.1:8443");
      await waitFor("a leader", () => first.isLeader(), { deadlineMs: timings.leaseDurationMs + 1_500 });
    } finally {
      clearInterval(touching);
    }
  });

  it("takes a Lease whose fields somebody filled with the largest numbers, after a bounded time (M2)", async () => {
    const largest = 2 ** 31 - 1;
    const times = { acquireTime: "2099-01-01T00:00:00.000000Z", renewTime: "2099-01-01T00:00:00.000000Z" };
    const spec = { holderIdentity: "no address", leaseDurationSeconds: largest, leaseTransitions: largest, ...times };
    await plane.must("POST", leases, { metadata: { name: "tollgate" }, spec });
    const beganAt = performance.now();
    const first = elector("10.0.0.1:8443");
    await waitFor("a leader", () => first.isLeader(), { deadlineMs: 4 * timings.leaseDurationMs + 2_000 });
    assert.ok(performance.now() - beganAt >= timings.leaseDurationMs - 10);
    const lease = await client.get(leaseResource, "default", "tollgate");
    const { spec: taken } = JSON.parse(JSON.stringify(lease));
    assert.deepEqual(
      [taken.holderIdentity, taken.leaseDurationSeconds, taken.leaseTransitions],
      ["10.0.0.1:8443", timings.leaseDurationMs / 1_000, largest],
    );
  });

  it("undoes what somebody writes into a Lease that it holds, and leads on", async () => {
    const first = elector("10.0.0.1:8443");
    await leader(first);
    let changes = 0;
    first.onChange(() => (changes += 1));
    const patch = { spec: { leaseDurationSeconds: 2 ** 31 - 1, renewTime: "2099-01-01T00:00:00.000000Z" } };
    await plane.must("PATCH", `${leases}/tollgate`, patch, "application/merge-patch+json");
    await waitFor("its own duration", async () => {
      const { spec } = JSON.parse(JSON.stringify(await client.get(leaseResource, "default", "tollgate")));
      return spec.leaseDurationSeconds === timings.leaseDurationMs / 1_000;
    });
    assert.deepEqual([first.isLeader(), changes], [true, 0]);
  });

  it("goes on without the API server until its deadline, and leads again when it is back", async () => {
    const first = elector("10.0.0.1:8443");
    await leader(first);
    await plane.kill("kube-apiserver");
    assert.equal(first.isLeader(), true);
    let calls = 0;
    const stopCounting = client.onCall(() => (calls += 1));
    const lostAt = performance.now();
    await waitFor("its deadline", () => !first.isLeader(), { deadlineMs: timings.renewDeadlineMs + 500 });
    await wait(2 * timings.leaseDurationMs);
    stopCounting();
    const periods = (performance.now() - lostAt) / (timings.retryPeriodMs * 0.75);
    assert.ok(calls <= periods + 1, `${calls} calls in ${periods} periods`);
    await plane.start("kube-apiserver");
    await leader(first);
  });
});
