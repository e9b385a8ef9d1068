/**
 * A cluster with nodes for the end-to-end suite: the one that `KUBECONFIG` names, if `TOLLGATE_E2E_REGISTRY` and
 * `TOLLGATE_E2E_TAG` say where our images are for it; else a one-node cluster of its own (`up.sh`), with images made from
 * this tree.
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { projectRoot } from "#scripts/run";
import { buildImages, imageRegistry, missingForImages } from "./build-images.ts";
import { clusterCache, clusterScripts, findProgram } from "./programs.ts";

const run = promisify(execFile);

/** Parts of the one-node cluster that can be crashed. */
export type NodePart = "apiserver" | "etcd" | "kubelet" | "containerd" | "scheduler" | "controller-manager";

export interface TestCluster {
  readonly images: { readonly registry: string; readonly tag: string };
  /** @throws with what the program said on standard error */
  kubectl(...programArguments: string[]): Promise<string>;
  /** `kubectl apply -f -` and its kin. */
  kubectlWith(input: string, ...programArguments: string[]): Promise<string>;
  helm(...programArguments: string[]): Promise<string>;
  /** A folder for files that the programs read. */
  readonly folder: string;
  /** Undefined for a cluster that is not ours to crash or to enter. */
  readonly node: TestNode | undefined;
  stop(): Promise<void>;
}

export interface TestNode {
  /** Runs a command in the node's namespaces. */
  run(variables: Readonly<Record<string, string>>, ...command: string[]): Promise<string>;
  /** SIGKILL; the node starts it again after half a second. */
  crash(part: NodePart): Promise<void>;
}

const commandDeadlineMs = 240_000;

/** @returns the cluster, or why there can be none */
export async function startTestCluster(): Promise<TestCluster | string> {
  const [helm, kubectl] = [findProgram("helm"), findProgram("kubectl")];
  if (helm === undefined || kubectl === undefined) return "no helm or no kubectl";
  const { KUBECONFIG, TOLLGATE_E2E_REGISTRY, TOLLGATE_E2E_TAG } = process.env;
  const folder = await mkdtemp(join(tmpdir(), "tollgate-e2e-"));
  if (KUBECONFIG !== undefined && TOLLGATE_E2E_REGISTRY !== undefined && TOLLGATE_E2E_TAG !== undefined) {
    return {
      images: { registry: TOLLGATE_E2E_REGISTRY, tag: TOLLGATE_E2E_TAG },
      folder,
      node: undefined,
      ...commandsOf([], kubectl, helm),
      stop: () => rm(folder, { recursive: true, force: true }),
    };
  }
  const missing = missingForNode();
  if (missing !== undefined) return missing;
  return startNode(folder, kubectl, helm);
}

function missingForNode(): string | undefined {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return "a one-node cluster needs root on Linux";
  for (const program of ["kubelet", "containerd", "kube-proxy", "etcd", "kube-apiserver"])
    if (!existsSync(join(clusterCache, "bin", program))) return `${program} is not in the cache: run build.sh first`;
  if (!existsSync(join(clusterScripts, "up.sh"))) return `no scripts of a test cluster in ${clusterScripts}`;
  return missingForImages();
}

async function startNode(folder: string, kubectl: string, helm: string): Promise<TestCluster> {
  const tag = `e2e-${process.pid}`;
  await buildImages(join(folder, "images"), tag);
  const place = join(folder, "node");
  const environment = { ...process.env, IMAGES: join(folder, "images") };
  // Its daemons must not hold our pipes, or the end of the script would never be seen.
  await run("bash", ["-c", `exec "$0" "$1" >"$2" 2>&1`, join(clusterScripts, "up.sh"), place, `${folder}/up.log`], {
    env: environment,
    timeout: commandDeadlineMs,
  });
  const enter = [join(place, "in")];
  return {
    images: { registry: imageRegistry, tag },
    folder,
    node: {
      run: (variables, ...command) =>
        runProgram([
          ...enter,
          "env",
          ...Object.entries(variables).map(([name, value]) => `${name}=${value}`),
          ...command,
        ]),
      crash: async (part) => {
        await runProgram([...enter, "sh", "-c", `kill -9 $(cat /run/${part}.pid)`]);
      },
    },
    ...commandsOf(enter, kubectl, helm),
    stop: async () => {
      await run(join(clusterScripts, "down.sh"), [place]);
      if (process.env["TOLLGATE_E2E_KEEP"] === undefined) await rm(folder, { recursive: true, force: true });
    },
  };
}

function commandsOf(
  enter: readonly string[],
  kubectl: string,
  helm: string,
): Pick<TestCluster, "kubectl" | "kubectlWith" | "helm"> {
  return {
    kubectl: (...programArguments) => runProgram([...enter, kubectl, ...programArguments]),
    kubectlWith: (input, ...programArguments) => runProgram([...enter, kubectl, ...programArguments], input),
    helm: (...programArguments) => runProgram([...enter, helm, ...programArguments]),
  };
}

async function runProgram([program = "", ...programArguments]: readonly string[], input?: string): Promise<string> {
  const running = run(program, programArguments, {
    cwd: projectRoot,
    timeout: commandDeadlineMs,
    maxBuffer: 2 ** 27,
  });
  if (input !== undefined) running.child.stdin?.end(input);
  return (await running).stdout;
}
