/**
 * The cache of programs that suites against a real Kubernetes run: etcd, API server, kubelet, helm, a root file system for
 * images. Built once, from sources, by the scripts of the test cluster; nine minutes cold, a second when it is there.
 */
import { spawnSync } from "node:child_process";
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

export const clusterCache: Gate = {
  name: "programs of a Kubernetes for tests",
  run: () => {
    const build = join(scripts, "build.sh");
    if (!existsSync(build)) {
      console.error(`There is no ${build}: the suites against a real Kubernetes cannot run.`);
      return false;
    }
    return spawnSync("bash", [build], { stdio: "inherit" }).status === 0;
  },
};

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
