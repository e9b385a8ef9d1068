/**
 * An operator: resources in, configuration for proxies and status out; it never sees a request.
 *
 * Started by the command line, alone or beside a proxy. Proxies keep serving when it closes. The two ways to run differ
 * in where resources come from and where status goes; `core.ts` is what they share.
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
