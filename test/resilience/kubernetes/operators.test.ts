/**
 * J10, K1 and K6: several operators, of which one writes; what is paused, killed or started in any order. Real processes
 * under ServiceAccounts of their own, so that the audit log tells who wrote what.
 */
import assert from "node:assert/strict";
import { setTimeout as wait } from "node:timers/promises";
import { FakeUpstream } from "#test/support/fake-upstream";
import type { AuditEvent, ControlPlane } from "#test/support/kube-control-plane";
import { ClusterRig, type OperatorUnderTest } from "#test/support/kubernetes/cluster-rig";
import { controlPlaneOrSkip } from "#test/support/kubernetes/control-plane-or-skip";
import { applyAll, numberedKey, objectPath } from "#test/support/kubernetes/objects";
import { operatorAccount } from "#test/support/kubernetes/operator-account";
import { SteadyLoad } from "#test/support/kubernetes/steady-load";
import { formats } from "#test/support/resilience/formats";
import { apiKey, channel, route, secret } from "#test/support/resilience/manifests";
import { waitFor } from "#test/support/wait-for";

const [format = assert.fail("there are formats")] = formats;
/** The rig's: a fifth of the real ones. */
const leaseMs = 3_000;
const retryMs = 400;
const namespace = "tollgate-system";

describe("several operators (J10)", function () {
  this.timeout(120_000);
  let plane: ControlPlane;
  let rig: ClusterRig;
  let first: OperatorUnderTest;
  let second: OperatorUnderTest;
  let upstream: FakeUpstream;

  const writesOf = (log: readonly AuditEvent[], name: string): AuditEvent[] =>
    log.filter(
      ({ user, verb, status = 0 }) =>
        user === `system:serviceaccount:${namespace}:${name}` &&
        ["create", "update", "patch", "delete"].includes(verb) &&
        status < 300,
    );
  const leads = async (operator: OperatorUnderTest) => (await operator.metric("tollgate_leader")) === 1;
  const waitForLeader = (operator: OperatorUnderTest, deadlineMs = 5_000) =>
    waitFor(`${operator.name} to lead`, () => leads(operator), { deadlineMs, everyMs: 20 });
  const start = async (name: string): Promise<OperatorUnderTest> => {
    const flags = ["--kubernetes-generate-keys", `--kubernetes-namespace=${namespace}`];
    const operator = await rig.startOperator(name, { kubeconfig: kubeconfigs.get(name) ?? "", flags });
    await operator.waitUntilReady();
    return operator;
  };
  const kubeconfigs = new Map<string, string>();
  const generatedKey = (name: string) => ({
    apiVersion: "tollgate.dev/v1alpha1",
    kind: "ApiKey",
    metadata: { name, namespace: "default" },
    spec: { credentials: [{ name: "current", generate: { secretName: `${name}-secret` } }] },
  });
  const secretIsThere = async (name: string) =>
    (await plane.call("GET", objectPath("Secret", "default", `${name}-secret`))).status === 200;

  before(async function () {
    plane = await controlPlaneOrSkip(this);
    await plane.installCrds();
    await plane.must("POST", "/api/v1/namespaces", { metadata: { name: namespace } });
    upstream = await FakeUpstream.start({ body: format.reply() });
    await applyAll(plane, [secret(), channel("up", upstream.port), route("m", ["up"]), apiKey("main")]);
    rig = new ClusterRig(plane);
    for (const name of ["operator-a", "operator-b"])
      kubeconfigs.set(name, await operatorAccount(plane, namespace, name, { generatesKeys: true }));
    first = await start("operator-a");
    await waitForLeader(first);
    second = await start("operator-b");
  });

  after(async () => {
    await rig?.close();
    await upstream?.close();
    await plane?.stop();
  });

  it("writes through the leader alone", async () => {
    await applyAll(plane, [generatedKey("gen-1")]);
    await waitFor("the Secret", () => secretIsThere("gen-1"));
    const made = await waitFor("both to serve it", async () => {
      const digests = await Promise.all([first.fleet(), second.fleet()]);
      return digests[0].keys === 2 && digests[0].digest === digests[1].digest && digests[0];
    });
    assert.equal(made.keys, 2);
    const log = await plane.auditLog();
    const secretsOf = (name: string) =>
      writesOf(log, name).filter((event) => event.resource === "secrets" && event.namespace === "default");
    assert.equal(secretsOf("operator-a").length, 1);
    assert.equal(secretsOf("operator-b").length, 0);
  });

  it("elects another when the leader is paused, and the former one writes nothing when it goes on", async () => {
    first.signal("SIGSTOP");
    const pausedAt = performance.now();
    try {
      await waitForLeader(second, leaseMs + 1_500);
      const tookMs = performance.now() - pausedAt;
      // Of the real ones: at most 15 s. A scrape and a busy machine come on top.
      assert.ok(tookMs <= leaseMs + 500, `${Math.round(tookMs)} ms`);
      await applyAll(plane, [generatedKey("gen-2")]);
      await waitFor("the Secret by the new leader", () => secretIsThere("gen-2"));
    } finally {
      first.signal("SIGCONT");
    }
    const before = writesOf(await plane.auditLog(), "operator-a").length;
    await applyAll(plane, [generatedKey("gen-3")]);
    await waitFor("the Secret", () => secretIsThere("gen-3"));
    await waitFor("the former leader to follow", async () => (await first.fleet()).keys === 4 && !(await leads(first)));
    await wait(2 * retryMs);
    assert.equal(writesOf(await plane.auditLog(), "operator-a").length, before);
    assert.ok(await leads(second));
  });

  it("hands over within the retry period when the leader ends, at a steady load without a failure", async () => {
    const proxy = await rig.startProxy("proxy-0", first.socket);
    await waitFor("the proxy to be ready", () => proxy.isReady());
    const steady = new SteadyLoad({ ports: [proxy.port], format, model: "m", perSecond: 100 });
    second.signal("SIGTERM");
    assert.equal(await second.ended(), 0);
    const endedAt = performance.now();
    await waitForLeader(first, 3_000);
    const tookMs = performance.now() - endedAt;
    assert.ok(tookMs <= retryMs + 300, `${Math.round(tookMs)} ms`);
    await steady.stop();
    assert.deepEqual(steady.failures, []);
    assert.ok(steady.outcomes.length > 0);
    second = await start("operator-b");
  });

  it("takes over within the lease when the leader is killed", async () => {
    first.signal("SIGKILL");
    await first.ended();
    const endedAt = performance.now();
    await waitForLeader(second, leaseMs + 1_500);
    assert.ok(performance.now() - endedAt <= leaseMs + 500, `${Math.round(performance.now() - endedAt)} ms`);
    first = await start("operator-a");
    assert.equal(await leads(first), false);
  });

  it("gives equal digests without talking, and makes no Secret twice", async () => {
    const [one, other] = await Promise.all([first.fleet(), second.fleet()]);
    assert.equal(one.digest, other.digest);
    const log = await plane.auditLog();
    const made = log.filter(({ verb, resource, namespace: where, status }) => {
      return verb === "create" && resource === "secrets" && where === "default" && status === 201;
    });
    // Three keys, and the Secret of the channel was applied.
    assert.equal(made.filter(({ user }) => user.startsWith("system:serviceaccount:")).length, 3);
  });

  it("needs no more than Roles where it watches some namespaces only", async () => {
    await plane.must("POST", "/api/v1/namespaces", { metadata: { name: "team-a" } });
    const kubeconfig = await operatorAccount(plane, namespace, "operator-roles", { watchNamespaces: ["team-a"] });
    const flags = [
      `--kubernetes-namespace=${namespace}`,
      "--kubernetes-watch-namespaces=team-a",
      "--lease-name=tollgate-team-a",
    ];
    const operator = await rig.startOperator("operator-roles", { kubeconfig, flags });
    await operator.waitUntilReady();
    assert.equal((await operator.fleet()).keys, 0, "the keys of other namespaces are none of its business");
    await applyAll(plane, [numberedKey(1, "team-a")]);
    await waitFor("the key", async () => (await operator.fleet()).keys === 1);
    await waitForLeader(operator);
    await operator.close();
  });

  it("uses no permission it does not have", async () => {
    const refused = (await plane.auditLog()).filter(
      ({ user, status }) => user.startsWith(`system:serviceaccount:${namespace}:`) && status === 403,
    );
    assert.deepEqual(
      refused.map(({ verb, resource }) => `${verb} ${resource}`),
      [],
    );
  });
});

describe("starting in any order (K6)", function () {
  this.timeout(120_000);
  let plane: ControlPlane;
  let rig: ClusterRig;
  let upstream: FakeUpstream;

  before(async function () {
    plane = await controlPlaneOrSkip(this);
    await plane.installCrds();
    upstream = await FakeUpstream.start({ body: format.reply() });
    await applyAll(plane, [secret(), channel("up", upstream.port), route("m", ["up"]), apiKey("main")]);
    rig = new ClusterRig(plane);
  });

  after(async () => {
    await rig?.close();
    await upstream?.close();
    await plane?.stop();
  });

  it("waits for the API server, is not ready until it was read, and can be ended meanwhile", async () => {
    await plane.kill("kube-apiserver");
    const early = await rig.startOperator("early");
    await waitFor("the admin port", async () => (await fetch(`${early.adminOrigin}/healthz`)).ok, {
      deadlineMs: 10_000,
    });
    assert.equal(await early.isReady(), false);
    early.signal("SIGTERM");
    assert.equal(await early.ended(5_000), 0);
    await plane.start("kube-apiserver");
  });

  it("serves whoever came first: proxy, operator, API server", async () => {
    await plane.kill("kube-apiserver");
    const socket = `${plane.folder}/late/push.sock`;
    const proxy = await rig.startProxy("early-proxy", socket);
    assert.equal(await proxy.isReady(), false);
    const operator = await rig.startOperator("late");
    await waitFor("the admin port", async () => (await fetch(`${operator.adminOrigin}/healthz`)).ok, {
      deadlineMs: 10_000,
    });
    await wait(500);
    assert.equal(await proxy.isReady(), false, "an operator that knows nothing tells a proxy nothing");
    await plane.start("kube-apiserver");
    await operator.waitUntilReady();
    await waitFor("the proxy to be ready", () => proxy.isReady(), { deadlineMs: 15_000 });
    const steady = new SteadyLoad({ ports: [proxy.port], format, model: "m", perSecond: 50 });
    await waitFor("some calls", () => steady.outcomes.length >= 20);
    await steady.stop();
    assert.deepEqual(steady.failures, []);
  });

  it("starts while the CRDs are not there yet, and reads them when they are", async () => {
    const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    for (const plural of ["accounts", "apikeys", "channels", "modelroutes"])
      await plane.must("DELETE", `${path}/${plural}.tollgate.dev`);
    await waitFor(
      "the CRDs to be gone",
      async () => {
        return (await plane.call("GET", "/apis/tollgate.dev/v1alpha1/apikeys")).status === 404;
      },
      { deadlineMs: 20_000 },
    );
    const operator = await rig.startOperator("without-crds");
    await waitFor("the admin port", async () => (await fetch(`${operator.adminOrigin}/healthz`)).ok, {
      deadlineMs: 10_000,
    });
    await waitFor("it to say so", () => operator.output.includes("404"));
    assert.equal(await operator.isReady(), false);
    await plane.installCrds();
    await operator.waitUntilReady(20_000);
  });
});
