/** Pods that the end-to-end suite runs beside the gateway, and what they say. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { stringify } from "yaml";
import { projectRoot } from "#scripts/run";
import { waitFor } from "#test/support/wait-for";
import type { TestCluster } from "./test-cluster.ts";

const scripts = join(projectRoot, "test", "e2e", "in-cluster");

export interface ScriptPod {
  readonly name: string;
  readonly namespace: string;
  /** File of `test/e2e/in-cluster`. */
  readonly script: string;
  readonly variables: Readonly<Record<string, string>>;
  /** Variables from Secrets: `{KEY: {name, key}}`. */
  readonly secrets?: Readonly<Record<string, { readonly name: string; readonly key: string }>>;
}

/** Starts a pod that runs one of our scripts, under the `restricted` Pod Security standard. */
export async function startScriptPod(cluster: TestCluster, pod: ScriptPod): Promise<void> {
  const { name, namespace, script } = pod;
  const { registry, tag } = cluster.images;
  const manifests = [
    {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name, namespace },
      data: { [script]: await readFile(join(scripts, script), "utf8") },
    },
    {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, namespace, labels: { app: name } },
      spec: {
        restartPolicy: "Never",
        enableServiceLinks: false,
        automountServiceAccountToken: false,
        terminationGracePeriodSeconds: 2,
        securityContext: { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: "RuntimeDefault" } },
        containers: [
          {
            name: "script",
            image: `${registry}/tollgate-demo-upstream:${tag}`,
            imagePullPolicy: "IfNotPresent",
            command: ["/usr/local/bin/node", `/scripts/${script}`],
            env: [
              ...Object.entries(pod.variables).map(([variable, value]) => ({ name: variable, value })),
              ...Object.entries(pod.secrets ?? {}).map(([variable, secretKeyRef]) => ({
                name: variable,
                valueFrom: { secretKeyRef },
              })),
            ],
            securityContext: {
              allowPrivilegeEscalation: false,
              readOnlyRootFilesystem: true,
              capabilities: { drop: ["ALL"] },
            },
            volumeMounts: [{ name: "scripts", mountPath: "/scripts", readOnly: true }],
          },
        ],
        volumes: [{ name: "scripts", configMap: { name } }],
      },
    },
  ];
  await cluster.kubectlWith(manifests.map((manifest) => stringify(manifest)).join("---\n"), "apply", "-f", "-");
}

/** Runs a script to its end. @returns what it printed */
export async function runScriptPod(cluster: TestCluster, pod: ScriptPod): Promise<string> {
  await startScriptPod(cluster, pod);
  const phase = await waitFor(
    `pod ${pod.name} to end`,
    async () => {
      const found = await cluster.kubectl(
        "-n",
        pod.namespace,
        "get",
        "pod",
        pod.name,
        "-o",
        "jsonpath={.status.phase}",
      );
      return found === "Succeeded" || found === "Failed" ? found : undefined;
    },
    { deadlineMs: 90_000, everyMs: 250 },
  );
  const said = await cluster.kubectl("-n", pod.namespace, "logs", pod.name);
  await cluster.kubectl("-n", pod.namespace, "delete", "pod,configmap", pod.name, "--wait=false");
  if (phase === "Failed") throw new Error(`pod ${pod.name} failed: ${said}`);
  return said;
}

/** GET of a pod's port, through the API server. */
export function getFromPod(
  cluster: TestCluster,
  namespace: string,
  pod: string,
  port: number,
  path: string,
): Promise<string> {
  return cluster.kubectl("get", "--raw", `/api/v1/namespaces/${namespace}/pods/${pod}:${port}/proxy${path}`);
}

/** Names of the ready pods with these labels. */
export async function readyPods(cluster: TestCluster, namespace: string, selector: string): Promise<string[]> {
  const text = await cluster.kubectl("-n", namespace, "get", "pods", "-l", selector, "-o", "json");
  const { items }: { items: PodView[] } = JSON.parse(text);
  return items
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .filter(({ status }) => status.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True"))
    .map(({ metadata }) => metadata.name);
}

interface PodView {
  readonly metadata: { readonly name: string; readonly deletionTimestamp?: string };
  readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}
