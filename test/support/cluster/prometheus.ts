/** Prometheus on the node of the test cluster: finds pods as the chart's PodMonitor and ServiceMonitor say. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stringify } from "yaml";
import { waitFor } from "#test/support/wait-for";
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
      scrape_configs: await Promise.all(
        ["PodMonitor", "ServiceMonitor"].map((kind) => scrapeOf(cluster, namespace, find(objects, kind))),
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

/**
 * What the Prometheus operator makes of a monitor: the pods with its labels, at the port of its name. Found here, as
 * Debian's Prometheus is built without the discovery of pods.
 */
async function scrapeOf(cluster: TestCluster, namespace: string, monitor: ChartObject): Promise<object> {
  const { selector, podMetricsEndpoints, endpoints } = monitor["spec"] as MonitorSpec;
  const endpoint = (podMetricsEndpoints ?? endpoints)?.[0];
  const labels = Object.entries(selector.matchLabels).map(([label, value]) => `${label}=${value}`);
  const text = await cluster.kubectl("-n", namespace, "get", "pods", "-l", labels.join(","), "-o", "json");
  const { items }: { items: readonly PodView[] } = JSON.parse(text);
  return {
    job_name: monitor.kind,
    metrics_path: endpoint?.path,
    static_configs: items.map(({ metadata, spec, status }) => {
      const port = spec.containers.flatMap(({ ports }) => ports ?? []).find(({ name }) => name === endpoint?.port);
      return {
        targets: [`${status.podIP}:${port?.containerPort}`],
        labels: { namespace, pod: metadata.name },
      };
    }),
  };
}

interface PodView {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly containers: readonly { readonly ports?: readonly PortView[] }[] };
  readonly status: { readonly podIP: string };
}

interface PortView {
  readonly name: string;
  readonly containerPort: number;
}

interface MonitorSpec {
  readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
  readonly podMetricsEndpoints?: readonly { readonly port: string; readonly path: string }[];
  readonly endpoints?: readonly { readonly port: string; readonly path: string }[];
}
