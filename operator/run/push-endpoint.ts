/**
 * Wires the push endpoint of a cluster: certificates, token reviews, the TLS listener, the other operators, the epoch
 * and their metrics. It knows nothing of Kubernetes; `cluster-endpoint.ts` supplies that side.
 *
 * It starts in two steps: followers and leader talk to each other from `prepareEndpoint` on, and proxies are served
 * after `open`.
 */
import type { Registry } from "prom-client";
import type { ServingCertificates } from "#operator/certificates/serving-certificates";
import type { ExpectedProxies } from "#operator/kubernetes/installation/expected-proxies";
import type { Leadership } from "#operator/kubernetes/leader-election/leadership";
import type { RefusalReason } from "#operator/push/authenticate/peer";
import { type TokenReviewer, TokenVerifier } from "#operator/push/authenticate/verify-token";
import type { Fleet } from "#operator/push/fleet";
import type { Publisher } from "#operator/push/publisher";
import { followLeader } from "#operator/push/replicas/follow-leader";
import { leaderClient } from "#operator/push/replicas/leader-client";
import { createPeerEndpoint } from "#operator/push/replicas/peer-endpoint";
import type { PeerSummaries } from "#operator/push/replicas/peer-summaries";
import { listenOverTls } from "#operator/push/tls-listener";
import type { Epochs } from "#operator/push/versions/epoch";
import type { ResourceUids } from "#operator/push/versions/resource-uids";
import type { SourceProgress } from "#operator/push/versions/source-progress";
import type { ListenAddress, OperatorLog } from "#operator/settings";
import type { Report } from "#proxy/snapshot/push/messages";
import type { Timers } from "#proxy/snapshot/push/timers";
import { registerEndpointMetrics } from "./endpoint-metrics.ts";

export interface PushEndpointOptions {
  readonly publisher: Publisher;
  /** Made with the same `summaries` and `expected`. */
  readonly fleet: Fleet;
  readonly summaries: PeerSummaries;
  readonly registry: Registry;
  readonly log: OperatorLog;
  /** This run of this operator. */
  readonly operator: string;
  readonly heartbeatMs: number;
  readonly deadMs: number;
  readonly certificates: ServingCertificates;
  readonly reviewer: TokenReviewer;
  readonly audience: string;
  /** User names of the ServiceAccounts, `system:serviceaccount:<namespace>:<name>`. */
  readonly accounts: { readonly proxy: string; readonly operator: string };
  readonly leadership: Leadership;
  readonly expected: ExpectedProxies;
  readonly epochs: Epochs;
  readonly progress: SourceProgress;
  readonly uids: ResourceUids;
  /** A consistent read: is the source's present version older than these? */
  readonly sourceWentBack: (claimed: Readonly<Record<string, string>>) => Promise<boolean>;
  /** Lists again every watch that is behind these versions. */
  readonly listBehind: (claimed: Readonly<Record<string, string>>) => void;
  /** Receives the ids of objects that a proxy refuses as deleted. */
  readonly onRefusedAsDeleted: (ids: readonly string[]) => void;
  /** Name in every operator's certificate by which the leader is reached. */
  readonly serverName: string;
  /** This operator's own token for the leader. */
  readonly tokenFile: string;
  /** Accepts the reports of this operator's proxies and of followers; called while it leads. */
  readonly onReport: (proxy: string, report: Report) => void;
  readonly timers?: Timers;
}

export interface PushEndpoint {
  /** Opens the port. Waits for the first certificate. @returns its address; undefined when it was closed meanwhile */
  open(listen: ListenAddress): Promise<ListenAddress | undefined>;
  /** Closes the streams of proxies and the port. */
  close(): Promise<void>;
}

/** Spreads the proxies that come back for the new epoch. */
const newEpochWithinMs = 2_000;
const tellEveryMs = 30_000;

export function prepareEndpoint(options: PushEndpointOptions): PushEndpoint {
  const { publisher, fleet, summaries, registry, log, certificates, leadership, expected, epochs } = options;
  const { operator, onReport, timers } = options;
  const timed = timers === undefined ? {} : { timers };
  const counters = registerEndpointMetrics(registry, { fleet, certificates, summaries, expected, epochs, leadership });
  const client = leaderClient({
    bundle: () => certificates.current?.bundle,
    serverName: options.serverName,
    tokenFile: options.tokenFile,
  });
  const following = followLeader({
    fleet,
    leadership,
    client,
    operator,
    everyMs: options.heartbeatMs,
    onPosted: counters.posted,
    ...timed,
  });
  const logRefusal = logRarely((reason) => log.warn("the push endpoint turned a peer away", { reason }));
  let wasLeader = leadership.isLeader();
  const stopLeadership = leadership.onChange(() => {
    const isLeader = leadership.isLeader();
    // Followers report to the next leader what they reported to the former one; the summaries here grow old.
    if (isLeader && !wasLeader) fleet.stabilise();
    if (!isLeader) {
      // Kept until the next leader reports: otherwise versions held back for other operators' proxies would go out meanwhile.
      if (wasLeader) fleet.setLackedElsewhere([...fleet.lacked]);
      summaries.clear();
    }
    wasLeader = isLeader;
  });
  const beginEpoch = (epoch: number) => {
    log.warn("the source went back in time, as after a restore: proxies begin a new epoch", { epoch });
    fleet.sendAway(newEpochWithinMs, "a new epoch began");
  };
  let stopEpochs = () => {};
  let isClosed = false;
  let server: Awaited<ReturnType<typeof listenOverTls>>["server"] | undefined;

  return {
    async open(listen) {
      await certificates.start();
      // Where it cannot be read now, the first proxy that knows of a higher one makes it be read again.
      await epochs.refresh().catch((cause: unknown) => log.warn("the operator cannot read the epoch", { cause }));
      if (isClosed) return undefined;
      stopEpochs = epochs.onRaise(beginEpoch);
      const opened = await listenOverTls(
        {
          publisher,
          fleet,
          operator,
          epochs,
          heartbeatMs: options.heartbeatMs,
          deadMs: options.deadMs,
          progress: options.progress,
          uids: options.uids,
          sourceWentBack: options.sourceWentBack,
          listBehind: options.listBehind,
          onRefusedAsDeleted: options.onRefusedAsDeleted,
          onReport: (proxy, report) => {
            if (!following.report(proxy, report)) onReport(proxy, report);
          },
          peers: createPeerEndpoint({
            leadership,
            summaries,
            onReport,
            lacked: () => fleet.lacked,
            onAccepted: counters.accepted,
          }),
          certificates,
          verifier: new TokenVerifier({
            reviewer: options.reviewer,
            audience: options.audience,
            accounts: options.accounts,
            ...timed,
          }),
          onRefused: (reason) => {
            counters.refused(reason);
            logRefusal(reason);
          },
          onBehind: counters.behind,
          ...timed,
        },
        listen,
      );
      server = opened.server;
      if (isClosed) server.close();
      return { host: listen.host, port: opened.port };
    },
    async close() {
      isClosed = true;
      stopLeadership();
      stopEpochs();
      fleet.close("the operator stops");
      await following.close();
      client.close();
      certificates.close();
      const closing = server;
      if (closing === undefined) return;
      await new Promise<void>((resolve) => {
        closing.close(() => resolve());
        // Streams that do not end by themselves would keep it open.
        setTimeout(() => closing.closeAllConnections(), 200).unref();
      });
    },
  };
}

/** Strangers must not fill the log: each reason is logged once in a while, and the metric counts them all. */
function logRarely(tell: (reason: RefusalReason) => void): (reason: RefusalReason) => void {
  const toldAt = new Map<RefusalReason, number>();
  return (reason) => {
    const now = performance.now();
    if (now - (toldAt.get(reason) ?? Number.NEGATIVE_INFINITY) < tellEveryMs) return;
    toldAt.set(reason, now);
    tell(reason);
  };
}
