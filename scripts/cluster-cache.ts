/**
 * The cache of programs that suites against a real Kubernetes run: etcd, API server, kubelet, helm, a root file system for
 * images. Built once, from sources, by the scripts of the test cluster: thirteen minutes cold on two cores, a second when
 * it is there. In two parts, since most suites need the first only.
 */
import { spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import type { Gate } from "./gates.ts";
import { projectRoot } from "./run.ts";

/** Where the scripts are; `TOLLGATE_CLUSTER` names another place. */
const scripts = process.env["TOLLGATE_CLUSTER"] ?? join(projectRoot, "..", "shared", "cluster");

const binaries = join(
  process.env["TOLLGATE_CLUSTER_CACHE"] ??
    join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "tollgate-cluster"),
  "bin",
);

/** What the suites need that start an API server and no pods. */
export const controlPlanePrograms: Gate = {
  name: "programs of a Kubernetes without nodes",
  run: () => build("control-plane"),
};

/** What a node needs beyond that: kubelet, container runtime, images. Gives way to whatever else runs (`nice`). */
export const nodePrograms: Gate = {
  name: "programs of a Kubernetes node",
  run: () => build("node"),
};

/** Shows what the build says while it says it: each program takes a minute or more. */
async function build(part: "control-plane" | "node"): Promise<boolean> {
  const script = join(scripts, "build.sh");
  if (!existsSync(script)) {
    console.error(`There is no ${script}: the suites against a real Kubernetes cannot run.`);
    return false;
  }
  const child = spawn("bash", [script, part], { stdio: "inherit" });
  return await new Promise((resolve) => {
    child.on("error", () => resolve(false));
    child.on("close", (status) => resolve(status === 0));
  });
}

/** Prometheus and its promtool, from the Debian package, unpacked and not installed. */
export const prometheusCache: Gate = {
  name: "Prometheus for tests",
  run: () => {
    const programs = ["prometheus", "promtool"];
    if (programs.every((program) => existsSync(join(binaries, program)))) return true;
    const folder = mkdtempSync(join(tmpdir(), "tollgate-prometheus-"));
    try {
      spawnSync("apt-get", ["update", "-q"], { stdio: "ignore" });
      spawnSync("apt-get", ["download", "-q", "prometheus"], { cwd: folder, stdio: "ignore" });
      const archive = readdirSync(folder).find((name) => name.endsWith(".deb"));
      if (archive === undefined) {
        console.error("The package prometheus cannot be had from the machine's package sources.");
        return false;
      }
      if (spawnSync("dpkg", ["-x", archive, "."], { cwd: folder, stdio: "inherit" }).status !== 0) return false;
      mkdirSync(binaries, { recursive: true });
      for (const program of programs) cpSync(join(folder, "usr", "bin", program), join(binaries, program));
      return true;
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
