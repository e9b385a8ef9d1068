/**
 * Wires everything that an operator writes into a cluster: status, Events, the Secrets of `generate` credentials, and
 * the Lease that decides whether it may write. Called by `run-in-cluster.ts`.
 */
import { randomBytes } from "node:crypto";
import { resultId } from "#operator/compile/compilation";
import { KeySecrets } from "#operator/generate-key/key-secrets";
import type { ApiClient } from "#operator/kubernetes/api/api-client";
import type { ReleaseOwner } from "#operator/kubernetes/installation/release-owner";
import { registerLeaderMetrics } from "#operator/kubernetes/leader-election/leader-metrics";
import { LeaseElector } from "#operator/kubernetes/leader-election/lease-elector";
import type { ClusterSettings, OperatorLog } from "#operator/settings";
import type { KubernetesSource } from "#operator/source/kubernetes/kubernetes-source";
import type { ObservedStatuses } from "#operator/status/cluster/observed-statuses";
import { keyReplaced, secretNotCreated } from "#operator/status/events/events-of";
import type { StatusDocument } from "#operator/status/status-document";
import { type ClusterStatusLoop, startClusterStatus } from "./cluster-status.ts";
import type { Core } from "./core.ts";

export interface ClusterWritersOptions {
  readonly cluster: ClusterSettings;
  readonly client: ApiClient;
  readonly source: KubernetesSource;
  /** The source fills it. */
  readonly observedStatuses: ObservedStatuses;
  readonly core: Core;
  /** The operator's own. */
  readonly namespace: string;
  readonly owner: ReleaseOwner | undefined;
  readonly log: OperatorLog;
}

export interface ClusterWriters {
  /** Not started yet. */
  readonly leadership: LeaseElector;
  readonly status: ClusterStatusLoop;
  readonly keySecrets: KeySecrets;
}

/** Makes all of them; `started` ends them. */
export function startWriters(started: AsyncDisposableStack, options: ClusterWritersOptions): ClusterWriters {
  const { cluster, client, source, observedStatuses, core, namespace, owner, log } = options;
  const { compilation, fleet, registry } = core;
  const { name, ...timings } = cluster.lease;
  const { podName, peerAddress: address } = cluster;
  const resources = source.current();
  const leadership = new LeaseElector({ client, namespace, name, address, podName, timings, owner, log });
  registerLeaderMetrics(registry, leadership);
  const status = startClusterStatus(started, {
    client,
    leadership,
    observedStatuses,
    resources,
    isReachable: () => source.isReachable,
    compilation,
    fleet,
    registry,
    podName,
    log,
  });
  const keySecrets = new KeySecrets({
    client,
    leadership,
    resources,
    wanted: () => (cluster.generatesKeys ? compilation.wantedSecrets() : []),
    randomBytes,
    log,
    onFailure: ({ namespace: of, ownerName, secretName }, why) =>
      status.sendKeyEvent({ namespace: of, name: ownerName }, secretNotCreated(secretName, why)),
    hadKey({ namespace: of, ownerName, credential }) {
      const found = observedStatuses.get(resultId("ApiKey", of, ownerName));
      return (
        found?.document !== undefined &&
        found.uid === resources.apiKeys.get(`${of}/${ownerName}`)?.metadata.uid &&
        showsKeyOf(found.document, credential)
      );
    },
    onReplaced({ namespace: of, ownerName, secretName, credential }) {
      log.warn(
        `ApiKey ${of}/${ownerName}: the Secret ${secretName} was deleted; the operator made a new key, which callers need`,
      );
      status.sendKeyEvent({ namespace: of, name: ownerName }, keyReplaced(secretName, credential));
    },
  });
  started.defer(() => keySecrets.close());
  // The leader before may have left Secrets to make.
  started.defer(leadership.onChange(() => keySecrets.enqueue()));
  return { leadership, status, keySecrets };
}

/** Whether a status shows a key that came from a Secret. */
function showsKeyOf({ status }: StatusDocument, credential: string): boolean {
  const credentials = "credentials" in status ? (status.credentials ?? []) : [];
  return credentials.some((one) => one.name === credential && "displayPrefix" in one);
}
