/**
 * The chart with real pods: installed under Pod Security `restricted`, called, changed, rolled, broken and removed, while
 * a steady load counts every failed call and every cut stream.
 */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, describe, it } from "mocha";
import { getFromPod, readyPods, runScriptPod, startScriptPod } from "#test/support/cluster/in-cluster";
import { metricNamesOfChart } from "#test/support/cluster/metric-names";
import { skipLoudly } from "#test/support/cluster/programs";
import { startPrometheus } from "#test/support/cluster/prometheus";
import {
  gatewayAddress,
  installRelease,
  operatorSelector,
  proxySelector,
  releaseNamespace,
  releaseValues,
  untilReady,
} from "#test/support/cluster/release";
import { startTestCluster, type TestCluster } from "#test/support/cluster/test-cluster";
import { waitFor } from "#test/support/wait-for";
import { dailyQuota, demoUpstream, further, gateway } from "./manifests.ts";

const digestKey = `sk-${"d".repeat(40)}`;

interface LoadCounts {
  readonly requests: number;
  readonly failed: number;
  readonly streams: number;
  readonly cut: number;
  readonly openStreams: number;
  readonly slowestMs: number;
  readonly failures: readonly object[];
}

describe("a release with real pods", function () {
  this.timeout(300_000);
  let cluster: TestCluster;
  let values: object;

  before(async function () {
    const started = await startTestCluster();
    if (typeof started === "string") return skipLoudly(this, started);
    cluster = started;
    values = releaseValues(cluster);
    for (const namespace of [releaseNamespace, "team-a"]) {
      await cluster.kubectl("create", "namespace", namespace);
      await cluster.kubectl("label", "namespace", namespace, "pod-security.kubernetes.io/enforce=restricted");
    }
  });

  after(() => cluster?.stop());

  async function apply(manifests: string): Promise<void> {
    await cluster.kubectlWith(manifests, "apply", "-f", "-");
  }

  async function untilCondition(condition: string, ...objects: string[]): Promise<void> {
    await cluster.kubectl("-n", "team-a", "wait", `--for=condition=${condition}`, ...objects, "--timeout=60s");
  }

  async function load(path: "/stats" | "/stop"): Promise<LoadCounts> {
    if (path === "/stats") return JSON.parse(await getFromPod(cluster, "team-a", "load", 8000, path));
    const target = `/api/v1/namespaces/team-a/pods/load:8000/proxy${path}`;
    return JSON.parse(await cluster.kubectlWith("{}", "create", "--raw", target, "-f", "-"));
  }

  /** Lets the load go on until this many more requests were counted and streams are open: the state has settled. */
  async function untilServed(more = 400): Promise<void> {
    const { requests } = await load("/stats");
    await waitFor(
      "the load to be served on",
      async () => {
        const now = await load("/stats");
        return now.requests >= requests + more && now.openStreams > 0;
      },
      { deadlineMs: 60_000, everyMs: 250 },
    );
  }

  async function assertNothingLost(): Promise<void> {
    await untilServed();
    const { failed, cut, failures } = await load("/stats");
    assert.deepEqual({ failed, cut }, { failed: 0, cut: 0 }, JSON.stringify(failures, null, 1));
  }

  it("helm install --wait ends with everything ready, under the restricted standard", async () => {
    const notes = await installRelease(cluster, values);
    assert.match(notes, /is installed as tollgate/);
    assert.equal((await readyPods(cluster, releaseNamespace, operatorSelector)).length, 2);
    assert.equal((await readyPods(cluster, releaseNamespace, proxySelector)).length, 2);
  });

  it("accounts, channels, routes, Secrets and keys become Programmed", async () => {
    const image = `${cluster.images.registry}/tollgate-demo-upstream:${cluster.images.tag}`;
    await apply([demoUpstream(image, "demo-upstream", 5), demoUpstream(image, "slow-upstream", 250)].join("---\n"));
    await apply(gateway);
    await apply(further.replace("DIGEST", createHash("sha256").update(digestKey).digest("hex")));
    await cluster.kubectl("-n", "team-a", "rollout", "status", "deployment", "--timeout=60s", "-l", "");
    await untilCondition("Programmed", "apikeys,channels,modelroutes,accounts", "--all");
  });

  it("a status says how many proxies took it, and what cannot be served here", async () => {
    const conditionOf = (kind: string, name: string, type: string, member: string) =>
      cluster.kubectl(
        "-n",
        "team-a",
        "get",
        kind,
        name,
        "-o",
        `jsonpath={.status.conditions[?(@.type=="${type}")].${member}}`,
      );
    assert.match(await conditionOf("apikey", "load", "Programmed", "message"), /every ready proxy \(2\)/);
    await apply(dailyQuota);
    await waitFor(
      "the quota to be refused",
      async () => (await conditionOf("apikey", "daily", "Accepted", "reason")) === "NeedsSharedStore",
      { deadlineMs: 30_000, everyMs: 250 },
    );
    await cluster.kubectl("-n", "team-a", "delete", "apikey", "daily");
  });

  it("every protocol is served from a pod, whole and streamed", async () => {
    const said = await runScriptPod(cluster, {
      name: "calls",
      namespace: "team-a",
      script: "call-protocols.mjs",
      variables: { TARGET: gatewayAddress },
      secrets: { KEY: { name: "first-key", key: "apiKey" } },
    });
    assertCalls(said);
  });

  it("and from the node", async function () {
    if (cluster.node === undefined) return this.skip();
    const address = await cluster.kubectl(
      "-n",
      releaseNamespace,
      "get",
      "service",
      "tollgate",
      "-o",
      "jsonpath={.spec.clusterIP}",
    );
    const variables = { TARGET: `http://${address}`, KEY: digestKey };
    assertCalls(await cluster.node.run(variables, process.execPath, "test/e2e/in-cluster/call-protocols.mjs"));
  });

  it("helm test finds it well", async () => {
    await cluster.helm("test", "tollgate", "--namespace", releaseNamespace, "--timeout", "120s");
  });

  describe("under 200 requests a second and 50 open streams", () => {
    before(async () => {
      await startScriptPod(cluster, {
        name: "load",
        namespace: "team-a",
        script: "load.mjs",
        variables: { TARGET: gatewayAddress },
        secrets: { KEY: { name: "load-key", key: "apiKey" } },
      });
      await waitFor("fifty streams to be open", async () => (await load("/stats")).openStreams >= 50, {
        deadlineMs: 60_000,
        everyMs: 250,
      });
    });

    it("a key suspended by kubectl patch is refused by every proxy within a second", async () => {
      const probe = { name: "revocation", namespace: "team-a", script: "watch-refusal.mjs" };
      const pods = await readyPods(cluster, releaseNamespace, proxySelector);
      const addresses = await Promise.all(
        pods.map((pod) => cluster.kubectl("-n", releaseNamespace, "get", "pod", pod, "-o", "jsonpath={.status.podIP}")),
      );
      const variables = { TARGETS: addresses.map((address) => `http://${address}:8080`).join(","), KEY: digestKey };
      await startScriptPod(cluster, { ...probe, variables });
      await waitFor(
        "the probe to be served by all",
        async () => JSON.parse(await getFromPod(cluster, "team-a", probe.name, 8000, "/")).isServed,
        { deadlineMs: 30_000, everyMs: 100 },
      );
      await cluster.kubectl(
        "-n",
        "team-a",
        "patch",
        "apikey",
        "digest",
        "--type=merge",
        '-p={"spec":{"state":"Suspended"}}',
      );
      // The node, the pods and this process share one clock.
      const patchedMs = Date.now();
      const refused: readonly number[] = await waitFor(
        "every proxy to refuse",
        async () => {
          const { lastServedMs, isRefused } = JSON.parse(await getFromPod(cluster, "team-a", probe.name, 8000, "/"));
          return isRefused ? lastServedMs : undefined;
        },
        { deadlineMs: 30_000, everyMs: 100 },
      );
      for (const lastServedMs of refused)
        assert.ok(lastServedMs - patchedMs <= 1_000, `served ${lastServedMs - patchedMs} ms after`);
      await cluster.kubectl("-n", "team-a", "delete", "pod", probe.name, "--wait=false");
    });

    it("proxies scaled from 2 to 5 and back lose nothing", async () => {
      for (const count of [5, 2]) {
        await cluster.kubectl("-n", releaseNamespace, "scale", "deployment", "tollgate-proxy", `--replicas=${count}`);
        await untilReady(cluster, proxySelector, count);
        await assertNothingLost();
      }
    });

    for (const program of ["proxy", "operator"])
      it(`a rolling restart of the ${program} loses nothing`, async () => {
        await cluster.kubectl("-n", releaseNamespace, "rollout", "restart", "deployment", `tollgate-${program}`);
        await cluster.kubectl(
          "-n",
          releaseNamespace,
          "rollout",
          "status",
          "deployment",
          `tollgate-${program}`,
          "--timeout=240s",
        );
        await assertNothingLost();
      });

    it("an upgrade with other values loses nothing", async () => {
      await installRelease(
        cluster,
        values,
        "--set",
        "proxy.settings.timeouts.streamIdle=60s",
        "--set",
        "operator.settings.revocation=Immediate",
      );
      await assertNothingLost();
    });

    for (const part of ["apiserver", "etcd", "kubelet"] as const)
      it(`the death of the ${part} loses nothing`, async function () {
        if (cluster.node === undefined) return this.skip();
        await cluster.node.crash(part);
        await waitFor(
          "the API server to answer",
          async () => (await cluster.kubectl("get", "--raw", "/readyz")) === "ok",
          {
            deadlineMs: 60_000,
            everyMs: 250,
          },
        );
        await assertNothingLost();
        await cluster.kubectl("-n", "team-a", "label", "apikey", "load", `after=${part}`, "--overwrite");
        await untilCondition("Programmed", "apikeys,channels,modelroutes,accounts", "--all");
      });

    it("every metric that rules and dashboards name exists in a scrape", async () => {
      const scrapes: string[] = [];
      for (const [selector, port] of [
        [proxySelector, 9090],
        [operatorSelector, 9091],
      ] as const)
        for (const pod of await readyPods(cluster, releaseNamespace, selector))
          scrapes.push(await getFromPod(cluster, releaseNamespace, pod, port, "/metrics"));
      const known = new Set(scrapes.flatMap((text) => [...text.matchAll(/^# TYPE (\S+)/gm)].map((match) => match[1])));
      assert.deepEqual(
        metricNamesOfChart().filter((name) => !known.has(name)),
        [],
      );
    });

    it("Prometheus finds the pods by the monitors' selectors, and loads the rules", async function () {
      if (cluster.node === undefined) return this.skip();
      const prometheus = await startPrometheus(cluster, cluster.node, releaseNamespace);
      if (prometheus === undefined) return skipLoudly(this, "no prometheus");
      await waitFor("all pods to be scraped", async () => (await prometheus.query("up == 1")).length === 4, {
        deadlineMs: 60_000,
        everyMs: 500,
      });
      const [calls] = await prometheus.query('sum(tollgate_requests_total{namespace="gateway",outcome="ok"})');
      assert.ok(calls !== undefined && calls > 0);
      assert.equal((await prometheus.alerts()).length, 12);
    });

    it("until the load ends: 0 failed, 0 cut", async () => {
      const { requests, failed, streams, cut, slowestMs, failures } = await load("/stop");
      console.log(
        `      ${requests} requests, ${failed} failed, slowest ${slowestMs} ms; ${streams} streams, ${cut} cut`,
      );
      assert.deepEqual({ failed, cut }, { failed: 0, cut: 0 }, JSON.stringify(failures, null, 1));
      assert.ok(requests > 5_000 && streams > 100);
    });
  });

  describe("in the end", () => {
    it("uninstalling leaves the CRDs and what people made, and nothing of the release", async () => {
      await cluster.helm("uninstall", "tollgate", "--namespace", releaseNamespace, "--wait", "--timeout", "180s");
      const selector = "app.kubernetes.io/part-of=tollgate";
      const made = () => cluster.kubectl("-n", releaseNamespace, "get", "configmap,secret,lease", "-o", "name");
      await waitFor("what the operators made to be gone", async () => !/\/tollgate/.test(await made()), {
        deadlineMs: 60_000,
        everyMs: 500,
      });
      const kinds =
        "all,configmap,secret,serviceaccount,role,rolebinding,networkpolicy,pdb,clusterrole,clusterrolebinding";
      await waitFor(
        "everything of the release to be gone",
        async () => (await cluster.kubectl("get", kinds, "-A", "-l", selector, "-o", "name")).trim() === "",
        { deadlineMs: 120_000, everyMs: 500 },
      );
      assert.match(await cluster.kubectl("get", "crd", "-o", "name"), /apikeys\.tollgate\.dev/);
      assert.match(await cluster.kubectl("-n", "team-a", "get", "apikeys", "-o", "name"), /apikey.*\/first/);
      assert.match(await cluster.kubectl("-n", "team-a", "get", "secrets", "-o", "name"), /first-key/);
    });
  });
});

function assertCalls(said: string): void {
  const replies = said
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.equal(replies.length, 8);
  for (const { name, isStream, status, type, text } of replies) {
    assert.equal(status, 200, `${name}: ${text}`);
    assert.match(type, isStream ? /^text\/event-stream/ : /^application\/json/, name);
    if (!isStream) assert.match(text, /You said: Hello!/, name);
  }
}
