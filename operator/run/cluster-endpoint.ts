/**
 * Wires the push endpoint of an operator in a cluster: connects `push-endpoint.ts` to the API server. Called by
 * `run-in-cluster.ts`.
 */
import { randomUUID } from "node:crypto";
import type { Registry } from "prom-client";
import { FileCertificates } from "#operator/certificates/file-certificates";
import { SelfManagedCertificates } from "#operator/certificates/self-managed-certificates";
import type { ServingCertificates } from "#operator/certificates/serving-certificates";
import type { ApiClient } from "#operator/kubernetes/api/api-client";
import { keepLastGoodKey } from "#operator/kubernetes/installation/last-good-key";
import { ownedConfigMap, ownedSecret } from "#operator/kubernetes/installation/owned-object";
import { ReadyPods } from "#operator/kubernetes/installation/ready-pods";
import type { ReleaseOwner } from "#operator/kubernetes/installation/release-owner";
import type { Leadership } from "#operator/kubernetes/leader-election/leadership";
import { defaultWatchTimings, type WatchTimings } from "#operator/kubernetes/watch/timings";
import { tokenReviewer } from "#operator/push/authenticate/review-token";
import type { Fleet } from "#operator/push/fleet";
import type { Publisher } from "#operator/push/publisher";
import { PeerSummaries } from "#operator/push/replicas/peer-summaries";
import { raiseAfterRestore, StoredEpochs } from "#operator/push/versions/epoch";
import type { ResourceUids } from "#operator/push/versions/resource-uids";
import { detectRestore, type RestoreDetection } from "#operator/push/versions/restore-detection";
import type { SourceProgress } from "#operator/push/versions/source-progress";
import type { OperatorLog, PushEndpointSettings } from "#operator/settings";
import type { KubernetesSource } from "#operator/source/kubernetes/kubernetes-source";
import type { Report } from "#proxy/snapshot/push/messages";
import { prepareEndpoint } from "./push-endpoint.ts";

export interface FleetSourcesOptions {
  readonly client: ApiClient;
  readonly source: KubernetesSource;
  /** The operator's own. */
  readonly namespace: string;
  /** The owner of the objects that the operators make there. */
  readonly owner: ReleaseOwner | undefined;
  readonly settings: PushEndpointSettings;
  readonly timings: Partial<WatchTimings>;
  readonly deadMs: number;
  readonly log: OperatorLog;
}

/** The two sources that tell a fleet of proxies that are not connected to this operator; both go into `new Fleet`. */
export interface FleetSources {
  readonly peers: PeerSummaries;
  readonly expected: ReadyPods;
}

/** Begins to watch the proxy pods; `started` ends it. */
export function startFleetSources(started: AsyncDisposableStack, options: FleetSourcesOptions): FleetSources {
  const { client, source, namespace, settings, log } = options;
  const expected = new ReadyPods({
    client,
    namespace,
    labels: settings.proxyLabels,
    reachability: source.reachability,
    timings: { ...defaultWatchTimings, ...options.timings },
    log,
  });
  started.defer(() => expected.close());
  expected.start();
  return { peers: new PeerSummaries(options.deadMs), expected };
}

export interface ClusterEndpointOptions extends FleetSourcesOptions {
  readonly sources: FleetSources;
  readonly publisher: Publisher;
  readonly fleet: Fleet;
  readonly registry: Registry;
  readonly leadership: Leadership;
  readonly progress: SourceProgress;
  readonly uids: ResourceUids;
  readonly heartbeatMs: number;
  readonly onReport: (proxy: string, report: Report) => void;
}

/** Begins a new epoch for each sign that a backup was restored. @returns the detector that proxies report signs to */
function noticeRestores(
  started: AsyncDisposableStack,
  { source, uids, log }: Pick<ClusterEndpointOptions, "source" | "uids" | "log">,
  epochs: StoredEpochs,
): RestoreDetection {
  const restores = raiseAfterRestore({
    epochs,
    onFailure: (cause) => log.error("the operator cannot raise the epoch; it tries again", { cause }),
  });
  started.defer(() => restores.close());
  // Also before the endpoint is open: the first proxies must not be told of removals that a restore undid.
  started.defer(epochs.onRaise(() => uids.beginEpoch()));
  started.defer(source.onRewind(restores.raise));
  started.defer(uids.onReturn(restores.raiseAgain));
  const removals = detectRestore({
    exists: async (id) => {
      const resource = uids.resourceOf(id);
      return resource !== undefined && (await source.has(resource));
    },
    onReturn: restores.raiseAgain,
    onFailure: (cause) =>
      log.warn("the operator cannot check whether objects that proxies refuse as deleted exist; it tries again", {
        cause,
      }),
  });
  started.defer(() => removals.close());
  started.defer(epochs.onRaise(removals.forget));
  return removals;
}

/**
 * Opens the endpoint as soon as there is a certificate; `started` closes it. An API server that is away is waited for.
 */
export function startClusterEndpoint(started: AsyncDisposableStack, options: ClusterEndpointOptions): void {
  const { client, source, namespace, owner, settings, log } = options;
  const configMap = ownedConfigMap({ client, namespace, owner, name: settings.configMap });
  const epochs = new StoredEpochs(configMap);
  const removals = noticeRestores(started, options, epochs);
  const account = (name: string) => `system:serviceaccount:${namespace}:${name}`;
  const endpoint = prepareEndpoint({
    publisher: options.publisher,
    fleet: options.fleet,
    summaries: options.sources.peers,
    registry: options.registry,
    log,
    operator: randomUUID(),
    heartbeatMs: options.heartbeatMs,
    deadMs: options.deadMs,
    certificates: certificatesOf(options),
    reviewer: tokenReviewer(client),
    audience: settings.audience,
    accounts: { proxy: account(settings.proxyAccount), operator: account(settings.operatorAccount) },
    leadership: options.leadership,
    expected: options.sources.expected,
    epochs,
    progress: options.progress,
    uids: options.uids,
    sourceWentBack: (claimed) => source.hasGoneBack(claimed),
    listBehind: (claimed) => source.listBehind(claimed),
    onRefusedAsDeleted: removals.noteRefused,
    serverName: settings.serverName,
    tokenFile: settings.tokenFile,
    onReport: options.onReport,
  });
  started.defer(() => endpoint.close());
  if (settings.lastGoodSecret !== undefined) {
    const secret = ownedSecret({ client, namespace, owner, name: settings.lastGoodSecret });
    started.defer(keepLastGoodKey(secret, log));
  }
  endpoint.open(settings.listen).then(
    (address) => {
      if (address !== undefined)
        log.info("the push endpoint serves proxies", { push: `${address.host}:${address.port}` });
    },
    (cause: unknown) => log.error("the operator cannot open the push endpoint", { cause }),
  );
}

function certificatesOf({ client, namespace, owner, settings, log }: ClusterEndpointOptions): ServingCertificates {
  const { tls } = settings;
  if (tls.mode === "Files") return new FileCertificates({ ...tls, log });
  return new SelfManagedCertificates({
    secret: ownedSecret({ client, namespace, owner, name: tls.secret }),
    bundle: ownedConfigMap({ client, namespace, owner, name: settings.configMap }),
    dnsNames: tls.dnsNames,
    periods: tls.periods,
    log,
  });
}
