/** The chart installed for the end-to-end suite: its values, its pods, and how many are ready. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { waitFor } from "#test/support/wait-for";
import { readyPods } from "./in-cluster.ts";
import { chartFolder } from "./render-chart.ts";
import type { TestCluster } from "./test-cluster.ts";

export const releaseNamespace = "gateway";
export const proxySelector = "app.kubernetes.io/component=proxy";
export const operatorSelector = "app.kubernetes.io/component=operator";
/** Inside the cluster. */
export const gatewayAddress = `http://tollgate.${releaseNamespace}.svc`;

/** Small enough for a node of two cores; addresses of pods and Services of the test cluster are allowed upstreams. */
export function releaseValues({ images }: TestCluster): object {
  const resources = { requests: { cpu: "20m", memory: "128Mi" }, limits: { memory: "512Mi" } };
  const image = (name: string) => ({ repository: `${images.registry}/tollgate-${name}`, tag: images.tag });
  return {
    operator: { image: image("operator"), resources, generateKeys: true },
    proxy: {
      image: image("proxy"),
      resources,
      egress: { allowCIDRs: ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"] },
      drain: { endpointLag: "5s", timeout: "60s" },
      terminationGracePeriodSeconds: 90,
    },
  };
}

/** `helm upgrade --install --wait` with these values. @returns its notes */
export async function installRelease(cluster: TestCluster, values: object, ...flags: string[]): Promise<string> {
  const file = join(cluster.folder, "values.json");
  await writeFile(file, JSON.stringify(values));
  return cluster.helm(
    "upgrade",
    "--install",
    "tollgate",
    chartFolder,
    "--namespace",
    releaseNamespace,
    "--values",
    file,
    "--wait",
    "--timeout",
    "180s",
    ...flags,
  );
}

/** Waits until exactly so many pods are there and all are ready. @returns their names */
export function untilReady(cluster: TestCluster, selector: string, count: number): Promise<string[]> {
  return waitFor(
    `${count} ready pods of ${selector}`,
    async () => {
      const ready = await readyPods(cluster, releaseNamespace, selector);
      const all = await cluster.kubectl("-n", releaseNamespace, "get", "pods", "-l", selector, "-o", "name");
      return ready.length === count && all.trim().split("\n").length === count ? ready : undefined;
    },
    { deadlineMs: 180_000, everyMs: 500 },
  );
}
