/** Prometheus on the node of the test cluster: finds pods as the chart's PodMonitor and ServiceMonitor say. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stringify } from "yaml";
import { waitFor } from "../wait-for.ts";
import { findProgram } from "./programs.ts";
import { type ChartObject, parseObjects, renderChart } from "./render-chart.ts";
import type { TestCluster, TestNode } from "./test-cluster.ts";

const address = "127.0.0.1:9099";

export interface RunningPrometheus {
  /** @returns the values of an instant query's series */
  query(expression: string): Promise<readonly number[]>;
  /** Names of the rules that it loaded. */
  alerts(): Promise<readonly string[]>;
}

/** @returns undefined where there is no Prometheus */
export async function startPrometheus(
  cluster: TestCluster,
  node: TestNode,
  namespace: string,
): Promise<RunningPrometheus | undefined> {
  const [prometheus, helm] = [findProgram("prometheus"), findProgram("helm")];
  if (prometheus === undefined || helm === undefined) return undefined;
  const monitoring = { podMonitor, serviceMonitor: podMonitor, prometheusRule: podMonitor };
  const objects = parseObjects(await renderChart(helm, { monitoring }));
  const configuration = join(cluster.folder, "prometheus.yaml");
  await writeFile(join(cluster.folder, "rules.yaml"), stringify(find(objects, "PrometheusRule")["spec"]));
  await writeFile(
    configuration,
    stringify({
      global: { scrape_interval: "2s", evaluation_interval: "2s" },
      rule_files: ["rules.yaml"],
      scrape_configs: ["PodMonitor", "ServiceMonitor"].map((kind) =>
        scrapeOf(kind, find(objects, kind), namespace, node.kubeconfig),
      ),
    }),
  );
  const flags = [`--config.file=${configuration}`, `--storage.tsdb.path=${cluster.folder}/prometheus`];
  const command = [prometheus, ...flags, `--web.listen-address=${address}`].join(" ");
  // The node's end is its end.
  await node.run({}, "sh", "-c", `${command} >${cluster.folder}/prometheus.log 2>&1 &`);
  const get = async (path: string): Promise<Reply> =>
    JSON.parse(await node.run({}, "curl", "-sS", "--fail-with-body", `http://${address}/api/v1/${path}`));
  await waitFor("Prometheus to answer", () => get("status/buildinfo"), { deadlineMs: 30_000, everyMs: 200 });
  return {
    async query(expression) {
      const { data } = await get(`query?query=${encodeURIComponent(expression)}`);
      return (data.result ?? []).map(({ value }) => Number(value[1]));
    },
    async alerts() {
      const { data } = await get("rules");
      return (data.groups ?? []).flatMap(({ rules }) => rules.map(({ name }) => name));
    },
  };
}

interface Reply {
  readonly data: {
    readonly result?: readonly { readonly value: readonly [number, string] }[];
    readonly groups?: readonly { readonly rules: readonly { readonly name: string }[] }[];
  };
}

const podMonitor = { enabled: true };

function find(objects: readonly ChartObject[], kind: string): ChartObject {
  const object = objects.find((candidate) => candidate.kind === kind);
  if (object === undefined) throw new Error(`the chart makes no ${kind}`);
  return object;
}

/** What the Prometheus operator makes of a monitor: keep the pods with its labels, and the port of its name. */
function scrapeOf(name: string, monitor: ChartObject, namespace: string, kubeconfig: string): object {
  const { selector, podMetricsEndpoints, endpoints } = monitor["spec"] as MonitorSpec;
  const endpoint = (podMetricsEndpoints ?? endpoints)?.[0];
  const labels = Object.entries(selector.matchLabels).map(([label, value]) => ({
    source_labels: [`__meta_kubernetes_pod_label_${label.replace(/[^A-Za-z0-9]/g, "_")}`],
    regex: value,
    action: "keep",
  }));
  return {
    job_name: name,
    metrics_path: endpoint?.path,
    kubernetes_sd_configs: [{ role: "pod", kubeconfig_file: kubeconfig, namespaces: { names: [namespace] } }],
    relabel_configs: [
      ...labels,
      { source_labels: ["__meta_kubernetes_pod_container_port_name"], regex: endpoint?.port, action: "keep" },
      { source_labels: ["__meta_kubernetes_namespace"], target_label: "namespace" },
      { source_labels: ["__meta_kubernetes_pod_name"], target_label: "pod" },
    ],
  };
}

interface MonitorSpec {
  readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
  readonly podMetricsEndpoints?: readonly { readonly port: string; readonly path: string }[];
  readonly endpoints?: readonly { readonly port: string; readonly path: string }[];
}
