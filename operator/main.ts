/**
 * Starts an operator. An operator compiles resources into configuration for proxies and writes their status; it never
 * sees a request.
 *
 * The command line calls it, alone or beside a proxy. Proxies keep serving after it has closed. An operator reads
 * either a folder (`run/run-from-folder.ts`) or a cluster (`run/run-in-cluster.ts`); `run/core.ts` holds what both
 * share.
 */
import { runFromFolder } from "./run/run-from-folder.ts";
import type { OperatorIo, OperatorSettings, RunningOperator } from "./settings.ts";

/** Runs an operator until its `close` is called. @throws when it cannot start; nothing is left running then */
export async function runOperator(settings: OperatorSettings, io: OperatorIo): Promise<RunningOperator> {
  if (settings.cluster === undefined) return runFromFolder(settings, io);
  // Loaded on first need: the Kubernetes client takes half a second, which one machine should not wait for.
  const { runInCluster } = await import("./run/run-in-cluster.ts");
  return runInCluster(settings, io);
}
