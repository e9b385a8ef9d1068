/**
 * kubeconform, strict: the chart's objects by the published schemas of every Kubernetes that it supports
 * (docs/design/operations.md 2.3), those for other projects by their CRDs, ours by ours. No field that one of them does
 * not know, none of another type, no kind without a schema.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { after, before, describe, it } from "mocha";
import { parse } from "yaml";
import { projectRoot } from "#scripts/run";
import { findProgram } from "#test/support/cluster/programs";
import { renderChart } from "#test/support/cluster/render-chart";
import { schemaLocation, writeKubernetesSchemas, writeResourceSchemas } from "#test/support/soak/kubernetes-schemas";
import { buildDeadlineMs, findSoakModule, findSoakTool } from "#test/support/soak/soak-tool";

const run = promisify(execFile);
const goldens = join(projectRoot, "test", "chart", "golden");
const crds = join(projectRoot, "crds");

const versions = ["v1.31.14", "v1.32.10", "v1.33.6", "v1.34.2", "v1.35.0", "v1.36.3"];

/** Whose kinds the chart makes objects of, and where their CRDs stand in their sources. */
const otherProjects = [
  {
    module: "github.com/prometheus-operator/prometheus-operator@v0.85.0",
    folder: "example/prometheus-operator-crd",
    names: /(podmonitors|servicemonitors|prometheusrules)\.yaml$/,
  },
  {
    module: "github.com/cert-manager/cert-manager@v1.21.2",
    folder: "deploy/crds",
    names: /cert-manager\.io_(certificates|issuers)\.yaml$/,
  },
  { module: "sigs.k8s.io/gateway-api@v1.5.0", folder: "config/crd/standard", names: /_httproutes\.yaml$/ },
];

const yamlFiles = (folder: string, names = /\.yaml$/): string[] =>
  readdirSync(folder)
    .filter((name) => names.test(name))
    .map((name) => join(folder, name));

describe("kubeconform", function () {
  this.timeout(buildDeadlineMs);
  let kubeconform = "";
  let folder = "";
  let charts = "";

  before(async function () {
    const helm = findProgram("helm");
    const found = await findSoakTool("kubeconform", "github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0");
    const modules = await Promise.all(otherProjects.map(({ module }) => findSoakModule(module)));
    if (helm === undefined || found === undefined || modules.includes(undefined)) return this.skip();
    kubeconform = found;
    folder = await mkdtemp(join(tmpdir(), "tollgate-conform-"));
    const others = otherProjects.flatMap((project, index) =>
      yamlFiles(join(modules[index] ?? "", project.folder), project.names),
    );
    writeResourceSchemas(join(folder, "resources"), [...others, ...yamlFiles(crds)]);
    charts = join(folder, "charts");
    mkdirSync(charts);
    for (const file of yamlFiles(goldens)) {
      const { values } = parse(readFileSync(file, "utf8"));
      await writeFile(
        join(charts, file.slice(goldens.length + 1)),
        await renderChart(helm, values, ["--include-crds"]),
      );
    }
  });

  after(async () => {
    if (folder !== "") await rm(folder, { recursive: true, force: true });
  });

  /** @returns how many objects are valid, and what is wrong with the others */
  async function judge(version: string, paths: readonly string[]): Promise<{ valid: number; problems: string[] }> {
    const locations = [version, "resources"].flatMap((name) => [
      "-schema-location",
      schemaLocation(join(folder, name)),
    ]);
    const flags = ["-strict", "-summary", "-output=json", ...locations];
    const { stdout } = await run(kubeconform, [...flags, ...paths], { maxBuffer: 2 ** 26 }).catch(
      (error: { stdout: string }) => error,
    );
    const { resources, summary } = JSON.parse(stdout);
    const problems = (resources ?? []).map(
      (one: { filename: string; kind: string; name: string; status: string; msg: string }) =>
        `${one.filename.split("/").at(-1)}: ${one.kind} ${one.name}: ${one.status}: ${one.msg}`,
    );
    return { valid: summary.valid, problems };
  }

  for (const version of versions)
    describe(`by the schemas of Kubernetes ${version}`, () => {
      before(async function () {
        const sources = await findSoakModule(`k8s.io/kubernetes@${version}`);
        if (sources === undefined) return this.skip();
        writeKubernetesSchemas(join(folder, version), join(sources, "api", "openapi-spec", "swagger.json"));
      });

      it("refuses what no schema knows", async () => {
        const file = join(folder, "wrong.yaml");
        const wrong = [
          "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {replica: 2}}",
          "{apiVersion: apps/v1, kind: Deploiment, metadata: {name: b}}",
          "{apiVersion: tollgate.dev/v1alpha1, kind: ApiKey, metadata: {name: c}, spec: {limit: 2}}",
          "{apiVersion: monitoring.coreos.com/v1, kind: PodMonitor, metadata: {name: d}, spec: {selectors: {}}}",
        ];
        await writeFile(file, wrong.join("\n---\n"));
        const { valid, problems } = await judge(version, [file]);
        assert.equal(valid, 0);
        assert.equal(problems.length, wrong.length);
      });

      it("takes the chart with every set of values", async () => {
        const { valid, problems } = await judge(version, [charts]);
        assert.deepEqual(problems, []);
        assert.ok(valid > yamlFiles(goldens).length, `${valid} objects`);
      });

      it("takes every example", async () => {
        const examples = ["crds/examples/valid", "examples/quickstart", "examples/kubernetes"];
        const { valid, problems } = await judge(
          version,
          examples.map((name) => join(projectRoot, name)),
        );
        assert.deepEqual(problems, []);
        assert.ok(valid > 100, `${valid} objects`);
      });
    });
});
