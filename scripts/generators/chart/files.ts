/**
 * The generated files of `charts/tollgate`: copies of the CRDs, the README, and in `values.schema.json` the descriptions
 * (from the comments of `values.yaml`) and what `operator.settings` and `proxy.settings` may hold.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { GeneratedFile } from "#scripts/generators/generated-file";
import { projectRoot } from "#scripts/run";
import { formatJson } from "./format-json.ts";
import { chartSettingsSchema } from "./settings-schema.ts";
import { type ChartValue, readChartValues } from "./value-comments.ts";

const chart = join(projectRoot, "charts", "tollgate");

/** Byte-equal: the annotation that keeps them stands in the source. */
export async function copyCrds(): Promise<readonly GeneratedFile[]> {
  const folder = join(projectRoot, "crds");
  return readdirSync(folder)
    .filter((name) => name.endsWith(".yaml"))
    .map((name) => ({
      path: join(chart, "files", "crds", name),
      content: readFileSync(join(folder, name), "utf8"),
    }));
}

interface SchemaNode {
  $ref?: string;
  description?: string;
  properties?: Record<string, SchemaNode>;
  definitions?: Record<string, object>;
}

export async function completeValuesSchema(): Promise<readonly GeneratedFile[]> {
  const path = join(chart, "values.schema.json");
  const schema: SchemaNode = JSON.parse(readFileSync(path, "utf8"));
  for (const value of values()) describe(schema, value);
  const settings = JSON.parse(readFileSync(join(projectRoot, "cli", "settings.schema.json"), "utf8"));
  for (const command of ["operator", "proxy"] as const) {
    schema.definitions = {
      ...schema.definitions,
      [`${command}Settings`]: chartSettingsSchema(settings, command),
    };
  }
  return [{ path, content: formatJson("values.schema.json", schema) }];
}

/** A member that the schema does not know is left to the test that compares both. */
function describe(schema: SchemaNode, { path, description }: ChartValue): void {
  let node: SchemaNode | undefined = schema;
  for (const member of path) node = node?.properties?.[member];
  if (node === undefined || description === "") return;
  // Beside a reference the older drafts read nothing, and people still do.
  node.description = description;
}

export async function writeChartReadme(): Promise<readonly GeneratedFile[]> {
  const lines = [
    "# Helm chart of Tollgate",
    "",
    "<!-- Made from values.yaml by `npm run generate`; do not edit. -->",
    "",
    "Installs the operator, the proxies and the custom resource definitions. Kubernetes 1.31 or newer, Helm 3 or 4.",
    "[On Kubernetes](../../docs/how-to/kubernetes.md) says how to go on from there, [settings](../../docs/settings.md) what the",
    "settings mean.",
    "",
    "```sh",
    "helm install tollgate charts/tollgate --namespace tollgate --create-namespace",
    "```",
    "",
    "An upgrade updates the definitions as well (`crds.enabled`). Uninstalling leaves them, and with them every key, channel,",
    "route and account. What the operators made for themselves (the CA of the push endpoint, the key of last good files, the",
    "Lease) belongs to an empty ConfigMap (`FULLNAME-owner`) and goes with it; no change of their settings or account touches it.",
    "",
    "Upgrade with `--reset-then-reuse-values` (Helm 3.14 or newer), or give all your values again: with `--reuse-values` those",
    "that are new in the chart are missing, and the upgrade fails at the first of them.",
    "",
    "Where Helm says `invalid ownership metadata` an object that it names belongs to another release. If it is a",
    "`CustomResourceDefinition`: those belong to the release that brought them. A second release in the cluster is installed",
    "with `--set crds.enabled=false`; one that takes the first's place under another name or in another namespace is installed",
    "with `--take-ownership` (Helm 3.17 or newer). If it is anything else: another release in the namespace has the same full",
    "name, because of `fullnameOverride` or as `my.rel` and `my-rel` have. Give this one a `fullnameOverride` of its own, and",
    "do not take ownership: that would take the objects of a release that runs away from it.",
    "",
    "An upgrade that changes `quota.embedded` fails with `updates to statefulset spec ... are forbidden`. Change the claim",
    "itself (its size may only grow, where the storage class allows it), then let the StatefulSet be made anew around the pod:",
    "",
    "```sh",
    'kubectl -n tollgate patch pvc data-tollgate-proxy-0 -p \'{"spec": {"resources": {"requests": {"storage": "16Gi"}}}}\'',
    "kubectl -n tollgate delete statefulset tollgate-proxy --cascade=orphan",
    "helm upgrade tollgate charts/tollgate --namespace tollgate --reset-then-reuse-values --set quota.embedded.size=16Gi",
    "```",
    "",
    "## Values",
    "",
    "| Value | Default | Meaning |",
    "| --- | --- | --- |",
    ...values()
      .filter(({ isGroup, description }) => !isGroup || description !== "")
      .map((value) => row(value)),
    "",
  ];
  return [{ path: join(chart, "README.md"), content: lines.join("\n") }];
}

function row({ path, description, defaultValue, isGroup }: ChartValue): string {
  const shown = isGroup ? "" : `\`${JSON.stringify(defaultValue)}\``;
  return `| \`${path.join(".")}\` | ${shown} | ${description} |`.replaceAll("  |", " |");
}

function values(): readonly ChartValue[] {
  return readChartValues(readFileSync(join(chart, "values.yaml"), "utf8"));
}
