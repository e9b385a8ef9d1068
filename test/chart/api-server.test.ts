/** The chart against a real API server: every golden is taken, and releases come, change and go. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { appendFile, cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { after, before, describe, it } from "mocha";
import { parse } from "yaml";
import { projectRoot } from "#scripts/run";
import { foreignCrds } from "#test/support/cluster/foreign-crds";
import { findProgram, skipLoudly } from "#test/support/cluster/programs";
import { chartFolder, type ReleasePlace, renderChart } from "#test/support/cluster/render-chart";
import { type ControlPlane, startControlPlane } from "#test/support/kube-control-plane";
import { waitFor } from "#test/support/wait-for";

const run = promisify(execFile);
const goldenFolder = join(projectRoot, "test", "chart", "golden");
/** Names that YAML would read as something else, or that are no DNS labels. */
const oddNames: readonly (ReleasePlace & { readonly values: object })[] = [
  { name: "123", namespace: "gateway", values: {} },
  { name: "1tollgate", namespace: "gateway", values: {} },
  { name: "my.rel", namespace: "gateway", values: { quota: { store: "Embedded" } } },
  { name: "a.release-of-a-long-name-that-is-cut-at-a.dot", namespace: "gateway", values: {} },
  { name: "tollgate", namespace: "123", values: { crds: { aggregateRoles: true } } },
  { name: "tollgate", namespace: "on", values: { tls: { mode: "ExistingSecret", existingSecret: "123" } } },
  { name: "tollgate", namespace: "gateway", values: { operator: { watchNamespaces: ["123", "on"] } } },
  { name: "tollgate", namespace: "gateway", values: { nameOverride: "123", fullnameOverride: "my.rel" } },
  { name: "tollgate", namespace: "gateway", values: { nameOverride: "LLM.Gateway", fullnameOverride: "llm" } },
  {
    name: "tollgate",
    namespace: "gateway",
    values: {
      operator: { priorityClassName: "123", serviceAccount: { name: "1" } },
      proxy: {
        priorityClassName: "1e3",
        serviceAccount: { name: "2", create: false },
        tls: { existingSecret: "0x1" },
        ingress: { enabled: true, className: "123", hosts: [{ host: "123" }] },
        service: { type: "LoadBalancer", loadBalancerClass: "on" },
      },
    },
  },
];
const goldens = readdirSync(goldenFolder).filter((name) => name.endsWith(".yaml"));

describe("the chart on a real API server", function () {
  this.timeout(120_000);
  let plane: ControlPlane;
  let helm = "";
  let kubectl = "";
  let kubeconfig = "";

  before(async function () {
    const [foundHelm, foundKubectl] = [findProgram("helm"), findProgram("kubectl")];
    if (foundHelm === undefined || foundKubectl === undefined) return skipLoudly(this, "no helm or no kubectl");
    const started = await startControlPlane({
      // What is only tried leaves no ServiceAccount that a tried Pod could name.
      apiServerFlags: ["--disable-admission-plugins=ServiceAccount"],
    });
    if (typeof started === "string") return skipLoudly(this, started);
    [plane, helm, kubectl] = [started, foundHelm, foundKubectl];
    kubeconfig = await plane.kubeconfig();
    for (const definition of foreignCrds)
      await plane.must("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition);
    for (const name of ["gateway", "team", "team-a", "team-b", "123", "on"])
      await plane.must("POST", "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name } });
    await inCluster(kubectl, "wait", "--for=condition=Established", "crd", "--all", "--timeout=60s");
  });

  after(() => plane?.stop());

  async function inCluster(program: string, ...programArguments: string[]): Promise<string> {
    const environment = { ...process.env, KUBECONFIG: kubeconfig, HOME: plane.folder };
    return (await run(program, programArguments, { env: environment, maxBuffer: 2 ** 26 })).stdout;
  }

  /** Feeds a manifest to kubectl. @returns what it and the API server had to say, warnings included */
  async function dryRun(manifest: string): Promise<string> {
    const child = run(kubectl, ["apply", "--dry-run=server", "--validate=strict", "-f", "-"], {
      env: { ...process.env, KUBECONFIG: kubeconfig },
      maxBuffer: 2 ** 26,
    });
    child.child.stdin?.end(manifest);
    const { stdout, stderr } = await child;
    return `${stdout}${stderr}`;
  }

  it("helm lint --strict finds nothing", async () => {
    await inCluster(helm, "lint", "--strict", chartFolder);
  });

  for (const file of goldens)
    it(`${file} is taken by the API server without a warning`, async () => {
      const { values } = parse(readFileSync(join(goldenFolder, file), "utf8"));
      const said = await dryRun(await renderChart(helm, values));
      assert.doesNotMatch(said, /warning/i);
      assert.match(said, /created \(server dry run\)/);
    });

  for (const { values, ...place } of oddNames)
    it(`release ${place.name} in ${place.namespace} with ${JSON.stringify(values)} is taken, too`, async () => {
      const said = await dryRun(await renderChart(helm, { crds: { enabled: false }, ...values }, [], place));
      assert.doesNotMatch(said, /warning/i);
      assert.match(said, /created \(server dry run\)/);
    });

  it("releases whose names and namespaces join to the same words have nothing in common", async () => {
    const releases = [
      ["a", "team"],
      ["tollgate", "team-a"],
    ] as const;
    for (const [name, namespace] of releases)
      await inCluster(helm, "install", name, chartFolder, "--namespace", namespace, "--set", "crds.enabled=false");
    for (const [name, namespace] of releases) await inCluster(helm, "uninstall", name, "--namespace", namespace);
  });

  describe("a release", () => {
    const release = ["tollgate", chartFolder, "--namespace", "gateway"];

    /** The chart as an earlier version might have been: another short name in a CRD. */
    async function olderChart(): Promise<string> {
      const folder = join(plane.folder, "older-chart");
      await cp(chartFolder, folder, { recursive: true });
      const path = join(folder, "files", "crds", "api-keys.yaml");
      await writeFile(path, (await readFile(path, "utf8")).replace("- tgkey", "- oldkey"));
      return folder;
    }

    /** The chart as a later version might be: with a value that this one has not. */
    async function newerChart(): Promise<string> {
      const folder = join(plane.folder, "newer-chart");
      await cp(chartFolder, folder, { recursive: true });
      const schema = JSON.parse(await readFile(join(folder, "values.schema.json"), "utf8"));
      schema.properties.newer = { type: "object" };
      await writeFile(join(folder, "values.schema.json"), JSON.stringify(schema));
      await appendFile(join(folder, "values.yaml"), "\nnewer: {said: by default}\n");
      const template =
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: newer}\ndata: {said: {{ .Values.newer.said }}}\n";
      await writeFile(join(folder, "templates", "newer.yaml"), template);
      return folder;
    }

    async function objectsOfRelease(): Promise<string[]> {
      const kinds = "all,configmap,serviceaccount,role,rolebinding,networkpolicy,pdb,clusterrole,clusterrolebinding";
      const selector = "app.kubernetes.io/instance=tollgate";
      const out = await inCluster(kubectl, "get", kinds, "-A", "-l", selector, "-o", "name");
      return out.split("\n").filter((line) => line !== "");
    }

    it("is installed, and says the next three commands", async () => {
      const notes = await inCluster(helm, "install", "tollgate", await olderChart(), "--namespace", "gateway");
      assert.match(notes, /kubectl -n gateway wait --for=condition=Ready/);
      assert.match(notes, /helm -n gateway test tollgate/);
      assert.match(notes, /kubectl explain apikey\.spec/);
      assert.ok((await objectsOfRelease()).length >= 14);
      // The API server publishes the words of new kinds a moment after they are defined.
      await waitFor(
        "kubectl explain to know the kinds",
        async () => /FIELDS:/.test(await inCluster(kubectl, "explain", "apikey.spec.credentials")),
        { deadlineMs: 30_000, everyMs: 200 },
      );
      assert.match(await inCluster(kubectl, "get", "oldkey", "-A", "-o", "name"), /^$/);
    });

    it("takes an upgrade with other values, which brings the CRDs up to date", async () => {
      await inCluster(helm, "upgrade", ...release, "--set", "proxy.replicas=3");
      const { spec } = parse(
        await inCluster(kubectl, "-n", "gateway", "get", "deploy", "tollgate-proxy", "-o", "yaml"),
      );
      assert.equal(spec.replicas, 3);
      assert.match(await inCluster(kubectl, "get", "crd", "apikeys.tollgate.dev", "-o", "yaml"), /- tgkey/);
    });

    it("takes a newer chart as the page for Kubernetes says, with the values given before", async () => {
      const page = await readFile(join(projectRoot, "docs/how-to/kubernetes.md"), "utf8");
      const [, flag = ""] = /helm upgrade tollgate .* (--re\S+-values)/.exec(page) ?? [];
      await inCluster(helm, "upgrade", "tollgate", await newerChart(), "--namespace", "gateway", flag);
      const { spec } = parse(
        await inCluster(kubectl, "-n", "gateway", "get", "deploy", "tollgate-proxy", "-o", "yaml"),
      );
      assert.equal(spec.replicas, 3);
      const added = await inCluster(kubectl, "-n", "gateway", "get", "configmap", "newer", "-o", "yaml");
      assert.match(added, /said: by default/);
    });

    it("has a second one beside it, which leaves the CRDs to the first", async () => {
      const second = ["install", "second", chartFolder, "--namespace", "team-b"];
      await assert.rejects(inCluster(helm, ...second), /invalid ownership metadata/);
      await inCluster(helm, ...second, "--set", "crds.enabled=false");
      await inCluster(helm, "uninstall", "second", "--namespace", "team-b");
    });

    it("leaves the CRDs and what was made with them when it is uninstalled, and nothing else", async () => {
      const key = {
        apiVersion: "tollgate.dev/v1alpha1",
        kind: "ApiKey",
        metadata: { name: "stays", namespace: "team-a" },
        spec: { credentials: [{ name: "first", sha256: "a".repeat(64) }] },
      };
      await plane.must("POST", "/apis/tollgate.dev/v1alpha1/namespaces/team-a/apikeys", key);
      await inCluster(helm, "uninstall", "tollgate", "--namespace", "gateway");
      assert.deepEqual(await objectsOfRelease(), []);
      assert.match(await inCluster(kubectl, "-n", "team-a", "get", "apikeys", "-o", "name"), /stays/);
    });

    it("takes over the CRDs that an earlier release left", async () => {
      await inCluster(helm, "install", ...release);
      await inCluster(helm, "uninstall", "tollgate", "--namespace", "gateway");
    });

    it("takes over those of a release of another name and namespace when it is told to, and gives them back", async () => {
      const moved = ["install", "moved", chartFolder, "--namespace", "team-b", "--take-ownership"];
      await inCluster(helm, ...moved);
      await inCluster(helm, "uninstall", "moved", "--namespace", "team-b");
      await inCluster(helm, "install", ...release, "--take-ownership");
      await inCluster(helm, "uninstall", "tollgate", "--namespace", "gateway");
    });
  });

  describe("the project's examples", () => {
    it("every example of the project is taken, too", async () => {
      await inCluster(helm, "install", "tollgate", chartFolder, "--namespace", "gateway");
      const examples = join(projectRoot, "examples", "quickstart");
      await plane.must("POST", "/api/v1/namespaces", {
        apiVersion: "v1",
        kind: "Namespace",
        metadata: { name: "quickstart" },
      });
      for (const file of readdirSync(examples).filter((name) => name.endsWith(".yaml")))
        assert.match(await dryRun(readFileSync(join(examples, file), "utf8")), /created \(server dry run\)/, file);
    });
  });
});
