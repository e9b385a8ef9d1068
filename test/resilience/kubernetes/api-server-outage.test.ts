/**
 * J1, J2 and T12: operator or API server away, killed, hung or behind a black hole, at a steady load: proxies notice
 * nothing, nobody is stormed, and what happened meanwhile is there soon after. Real processes; absences are scaled.
 */
import assert from "node:assert/strict";
import { setTimeout as wait } from "node:timers/promises";
import { FakeUpstream } from "#test/support/fake-upstream";
import { FaultRelay } from "#test/support/fault-relay";
import type { ControlPlane } from "#test/support/kube-control-plane";
import { ClusterRig, type OperatorUnderTest, readMetric } from "#test/support/kubernetes/cluster-rig";
import { controlPlaneOrSkip } from "#test/support/kubernetes/control-plane-or-skip";
import { applyAll, createKeys, inParallel, objectPath } from "#test/support/kubernetes/objects";
import { SteadyLoad } from "#test/support/kubernetes/steady-load";
import { formats } from "#test/support/resilience/formats";
import { apiKey, channel, route, secret } from "#test/support/resilience/manifests";
import type { Program } from "#test/support/resilience/program";
import { waitFor } from "#test/support/wait-for";

const [format = assert.fail("there are formats")] = formats;
/** How long the API server is away; ten minutes and one in the full-length runs. */
const absenceMs = Number(process.env["TOLLGATE_ABSENCE_MS"] ?? 6_000);
const perSecond = 300;

describe("an API server or an operator that is away (J1, J2)", function () {
  this.timeout(120_000 + 4 * absenceMs);
  let plane: ControlPlane;
  let rig: ClusterRig;
  let relay: FaultRelay;
  let operator: OperatorUnderTest;
  let proxy: Program;
  let upstream: FakeUpstream;
  let kubeconfig: string;

  before(async function () {
    plane = await controlPlaneOrSkip(this);
    await plane.installCrds();
    upstream = await FakeUpstream.start({ body: format.reply() });
    await applyAll(plane, [secret(), channel("up", upstream.port), route("m", ["up"]), apiKey("main")]);
    relay = await FaultRelay.start({ port: plane.port });
    kubeconfig = await plane.kubeconfig({ port: relay.port });
    rig = new ClusterRig(plane);
    operator = await rig.startOperator("operator-0", { kubeconfig });
    await operator.waitUntilReady();
    proxy = await rig.startProxy("proxy-0", operator.socket);
    await waitFor("the proxy to be ready", () => proxy.isReady());
  });

  after(async () => {
    await rig?.close();
    await relay?.close();
    await upstream?.close();
    await plane?.stop();
  });

  const keysHeld = async () => (await operator.fleet()).keys;
  let running: SteadyLoad | undefined;
  const load = (): SteadyLoad => {
    running = new SteadyLoad({ ports: [proxy.port], format, model: "m", perSecond });
    return running;
  };
  /** A test that failed must not leave a load that keeps its process alive. */
  afterEach(() => running?.stop());
  const noFailures = (steady: SteadyLoad): void => {
    assert.deepEqual(steady.failures, []);
    assert.ok(steady.outcomes.length > 0);
  };
  /** Keys that come and go while the operator cannot see it. */
  const changeBehindItsBack = async (): Promise<void> => {
    await createKeys(plane, 20);
    await plane.must("DELETE", objectPath("ApiKey", "default", "key-3"));
  };
  const expectConverged = async (sinceMs: number): Promise<void> => {
    await waitFor("what happened meanwhile", async () => (await keysHeld()) === 20, { deadlineMs: 5_000 });
    const tookMs = performance.now() - sinceMs;
    assert.ok(tookMs <= 5_000, `converged after ${Math.round(tookMs)} ms`);
  };
  const clean = async (): Promise<void> => {
    await inParallel(20, (index) => plane.call("DELETE", objectPath("ApiKey", "default", `key-${index}`)));
    await waitFor("the keys to be gone", async () => (await keysHeld()) === 1, { deadlineMs: 10_000 });
  };

  it("bears the API server killed and started again (J2)", async () => {
    const steady = load();
    await plane.kill("kube-apiserver");
    const lostAt = performance.now();
    const asked = relay.connectionCount;
    await wait(absenceMs);
    const perSecondAsked = (relay.connectionCount - asked) / ((performance.now() - lostAt) / 1_000);
    assert.equal(await operator.metric("tollgate_api_server_reachable"), 0);
    assert.equal(await keysHeld(), 1);
    // Also with the Lease asked for five times as often as in real life.
    assert.ok(perSecondAsked <= 2 + 2.5, `${perSecondAsked} connections a second`);
    await plane.start("kube-apiserver");
    const backAt = performance.now();
    await createKeys(plane, 20);
    await plane.must("DELETE", objectPath("ApiKey", "default", "key-3"));
    await expectConverged(Math.max(backAt, performance.now() - 100));
    await steady.stop();
    noFailures(steady);
    await clean();
  });

  it("notices an API server that hangs, and goes on where it stopped (J2)", async () => {
    const steady = load();
    plane.pause("kube-apiserver", true);
    const hungAt = performance.now();
    try {
      const isLost = async () => (await operator.metric("tollgate_api_server_reachable")) === 0;
      await waitFor("the silence to be noticed", isLost, { deadlineMs: 8_000, everyMs: 50 });
      const noticedMs = performance.now() - hungAt;
      // Silence, one question and a beat of the clock that looks for silence.
      assert.ok(noticedMs <= 2_000 + 1_000 + 800, `${Math.round(noticedMs)} ms`);
      await wait(absenceMs / 2);
    } finally {
      plane.pause("kube-apiserver", false);
    }
    await changeBehindItsBack();
    await expectConverged(performance.now());
    await steady.stop();
    noFailures(steady);
    await clean();
  });

  it("bears a black hole before the API server, with changes behind its back (J2, T12)", async () => {
    const steady = load();
    relay.stall();
    await changeBehindItsBack();
    await wait(absenceMs);
    assert.equal(await keysHeld(), 1);
    // What was sent into the hole must not come out of it later.
    relay.reset();
    relay.resume();
    await expectConverged(performance.now());
    await steady.stop();
    noFailures(steady);
    await clean();
  });

  it("bears refused connections, and a version that is gone on return (T12)", async () => {
    const steady = load();
    relay.refuse(true);
    relay.reset();
    await changeBehindItsBack();
    await wait(absenceMs);
    assert.equal(await keysHeld(), 1);
    // A server that was started anew remembers no versions of before.
    await plane.kill("kube-apiserver");
    await plane.start("kube-apiserver");
    relay.refuse(false);
    await expectConverged(performance.now());
    await steady.stop();
    noFailures(steady);
    await clean();
  });

  it("bears etcd killed and started again", async () => {
    const steady = load();
    await plane.kill("etcd");
    await wait(absenceMs / 2);
    assert.equal(await keysHeld(), 1);
    await plane.start("etcd");
    await changeBehindItsBack();
    await expectConverged(performance.now());
    await steady.stop();
    noFailures(steady);
    await clean();
  });

  it("serves on without an operator, and is pushed nothing when it comes back and nothing changed (J1)", async () => {
    const steady = load();
    // What the tests before it changed has reached the proxy: else the next operator owes it that.
    const before = await waitFor("the proxy to hold what the operator holds", async () => {
      const { digest, proxies } = await operator.fleet();
      return proxies[0]?.digest === digest && digest;
    });
    operator.signal("SIGKILL");
    await operator.ended();
    await wait(absenceMs);
    assert.equal(await proxy.isReady(), true);
    operator = await rig.startOperator("operator-0", { kubeconfig });
    await operator.waitUntilReady();
    await waitFor("the proxy to come back", async () =>
      (await operator.fleet()).proxies.some(({ isReady }) => isReady),
    );
    const { digest, proxies } = await operator.fleet();
    assert.equal(digest, before);
    assert.equal(proxies[0]?.digest, before);
    const scrape = await (await fetch(`${proxy.started.admin}/metrics`)).text();
    const ageSeconds = readMetric(scrape, "tollgate_config_age_seconds");
    assert.ok(ageSeconds >= absenceMs / 1_000, `the proxy applied something ${ageSeconds} s ago`);
    await steady.stop();
    noFailures(steady);
  });
});
