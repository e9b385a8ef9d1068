/**
 * Where the programs of a Kubernetes are: helm, kubectl and the scripts of the one-node test cluster.
 *
 * Suites that lack one say so and are skipped; where `TOLLGATE_SKIP` is `never`, as in CI, that is a failure.
 */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { projectRoot } from "#scripts/run";

/** Cache of `build.sh`: binaries in `bin`, image archives in `img`, a root file system with Node in `node-rootfs`. */
export const clusterCache =
  process.env["TOLLGATE_CLUSTER_CACHE"] ??
  join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "tollgate-cluster");

/** Scripts that build and start a cluster; `TOLLGATE_CLUSTER` names another place. */
export const clusterScripts = process.env["TOLLGATE_CLUSTER"] ?? join(projectRoot, "..", "shared", "cluster");

/** @returns the path of a program: of the environment's `PATH`, `KUBEBUILDER_ASSETS` or the cache */
export function findProgram(name: string): string | undefined {
  const folders = [
    process.env["KUBEBUILDER_ASSETS"] ?? "",
    join(clusterCache, "bin"),
    ...(process.env["PATH"] ?? "").split(delimiter),
  ];
  return folders
    .filter((folder) => folder !== "")
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path));
}

/** Ends a suite that lacks something: a loud skip, or a failure where nothing may be lacking. */
export function skipLoudly(context: { skip(): void }, why: string): void {
  if (process.env["TOLLGATE_SKIP"] === "never") throw new Error(`this suite must not be skipped here: ${why}`);
  console.error(`SKIPPED: ${why}`);
  context.skip();
}
