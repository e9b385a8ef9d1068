/**
 * Wires an operator that watches the API server of a cluster. It is one of several replicas: all of them serve proxies,
 * and the holder of the Lease writes.
 */
import { mkdir } from "node:fs/promises";
import { ApiClient } from "#operator/kubernetes/api/api-client";
import { registerApiMetrics } from "#operator/kubernetes/api/api-metrics";
import { ClusterAccess } from "#operator/kubernetes/api/cluster-access";
import { releaseOwner } from "#operator/kubernetes/installation/release-owner";
import { ResourceUids } from "#operator/push/versions/resource-uids";
import { SourceProgress } from "#operator/push/versions/source-progress";
import type { ClusterOperatorSettings, OperatorIo, RunningOperator } from "#operator/settings";
import { KubernetesSource } from "#operator/source/kubernetes/kubernetes-source";
import { registerWatchMetrics } from "#operator/source/kubernetes/watch-metrics";
import { ObservedStatuses } from "#operator/status/cluster/observed-statuses";
import type { Report } from "#proxy/snapshot/push/messages";
import { startClusterEndpoint, startFleetSources } from "./cluster-endpoint.ts";
import { startWriters } from "./cluster-writers.ts";
import { openAdmin, openPushSocket, startCore, startReconcileLoop } from "./core.ts";

/**
 * Opens its ports, then reads the cluster and follows every change. An API server that is away is waited for: until it
 * was read once, the operator is not ready and tells no proxy anything.
 *
 * @returns once its ports are open
 * @throws when there is no configuration of a cluster or a port cannot be opened; nothing is left running then
 */
export async function runInCluster(settings: ClusterOperatorSettings, { log }: OperatorIo): Promise<RunningOperator> {
  await using started = new AsyncDisposableStack();
  await mkdir(settings.dataFolder, { recursive: true, mode: 0o700 });
  const { cluster } = settings;
  const access = await ClusterAccess.load({ kubeconfig: cluster.kubeconfig, context: cluster.context });
  started.defer(() => access.close());
  const client = new ApiClient(access);
  const observedStatuses = new ObservedStatuses();
  const source = new KubernetesSource({
    client,
    namespaces: cluster.watchNamespaces,
    watchesNamespaces: cluster.watchesNamespaces,
    timings: cluster.watch,
    onObserved: (kind, object, isLatest) => observedStatuses.observe(kind, object, isLatest),
    log,
  });
  started.defer(() => source.close());
  const namespace = cluster.namespace ?? access.namespace ?? "default";
  const owner = cluster.owner === undefined ? undefined : releaseOwner(client, namespace, cluster.owner);
  const endpoint = {
    client,
    source,
    namespace,
    owner,
    settings: cluster.push,
    timings: cluster.watch,
    log,
    ...settings.push,
  };
  const sources = startFleetSources(started, endpoint);
  // Every living proxy has reconnected by then; where the cluster lists the proxies, it mostly takes a moment.
  const stabiliseMs = settings.push.deadMs;
  const core = startCore(started, settings, source.current(), { ...sources, stabiliseMs });
  started.defer(registerApiMetrics(core.registry, client));
  registerWatchMetrics(core.registry, source);
  const writing = { cluster, client, source, observedStatuses, core, namespace, owner, log };
  const { leadership, status, keySecrets } = startWriters(started, writing);
  // A bookmark starts a pass too: it tells that nothing else changed.
  const progress = new SourceProgress(
    () => source.versions(),
    () => {
      // Before the first reading a pass would publish nothing as if that were all.
      if (core.publisher.hasPublished) void pipeline.enqueue([]);
    },
  );
  const uids = new ResourceUids(source.current());
  const pipeline = startReconcileLoop(started, core, status, () => keySecrets.enqueue(), log, { progress, uids });
  source.onChange((changes) => void pipeline.enqueue(changes));

  await openPushSocket(started, core, settings, status);
  const onReport = (proxy: string, report: Report) => status.acceptReport(proxy, report);
  startClusterEndpoint(started, { ...endpoint, ...core, sources, leadership, progress, uids, onReport });
  const admin = await openAdmin(started, core, settings, source.current());
  const follow = async () => {
    if (!(await source.start())) return;
    // Also for an empty cluster: an operator that has read its source publishes that.
    await pipeline.enqueue([]);
    log.info("the operator has read the cluster", {
      keys: source.countOf("ApiKey"),
      routes: source.countOf("ModelRoute"),
    });
  };
  void follow();
  leadership.start();
  // Ended first, so that the next leader need not wait for the Lease to run out.
  started.defer(() => leadership.close());
  const running = started.move();
  return { addresses: { pushSocket: settings.pushSocket, admin }, close: () => running.disposeAsync() };
}
