/**
 * The cache of programs that suites against a real Kubernetes run: etcd, API server, kubelet, helm, a root file system for
 * images. Built once, from sources, by the scripts of the test cluster; nine minutes cold, a second when it is there.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Gate } from "./gates.ts";
import { projectRoot } from "./run.ts";

/** Where the scripts are; `TOLLGATE_CLUSTER` names another place. */
const scripts = process.env["TOLLGATE_CLUSTER"] ?? join(projectRoot, "..", "shared", "cluster");

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
