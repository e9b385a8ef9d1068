/** Metrics of the connection between proxies and several operators. Every label comes from a closed set. */
import { Counter, Gauge, type Registry } from "prom-client";
import type { ServingCertificates } from "#operator/certificates/serving-certificates";
import type { ExpectedProxies } from "#operator/kubernetes/installation/expected-proxies";
import type { Leadership } from "#operator/kubernetes/leader-election/leadership";
import { type RefusalReason, refusalReasons } from "#operator/push/authenticate/peer";
import type { Fleet } from "#operator/push/fleet";
import type { PeerSummaries } from "#operator/push/replicas/peer-summaries";
import type { Epochs } from "#operator/push/versions/epoch";

export interface EndpointMetricsSources {
  readonly fleet: Fleet;
  readonly certificates: ServingCertificates;
  readonly summaries: PeerSummaries;
  readonly expected: ExpectedProxies;
  readonly epochs: Epochs;
  readonly leadership: Leadership;
}

/** Counters that the endpoint raises as things happen. */
export interface EndpointCounters {
  refused(reason: RefusalReason): void;
  behind(): void;
  posted(outcome: "taken" | "failed"): void;
  accepted(kind: "summary" | "report"): void;
}

export function registerEndpointMetrics(registry: Registry, sources: EndpointMetricsSources): EndpointCounters {
  const { fleet, certificates, summaries, expected, epochs, leadership } = sources;
  const registers = [registry];
  const refused = new Counter({
    name: "tollgate_push_refused_total",
    help: "Peers of the push endpoint that were turned away before anything was sent.",
    labelNames: ["reason"],
    registers,
  });
  for (const reason of refusalReasons) refused.inc({ reason }, 0);
  const behind = new Counter({
    name: "tollgate_push_behind_total",
    help: "Proxies sent to another operator because this one had seen less of the source than they had.",
    registers,
  });
  const told = new Counter({
    name: "tollgate_peers_told_total",
    help: "Summaries of this operator's proxies for the leader.",
    labelNames: ["outcome"],
    registers,
  });
  for (const outcome of ["taken", "failed"]) told.inc({ outcome }, 0);
  const taken = new Counter({
    name: "tollgate_peers_taken_total",
    help: "Messages accepted from followers while this operator leads.",
    labelNames: ["kind"],
    registers,
  });
  for (const kind of ["summary", "report"]) taken.inc({ kind }, 0);
  const expiry = new Gauge({
    name: "tollgate_push_certificate_expiry_seconds",
    help: "Time until a certificate of the push endpoint expires.",
    labelNames: ["certificate"],
    registers,
    collect() {
      const { leafMs, authorityMs } = certificates.expiry ?? {};
      if (leafMs !== undefined) expiry.set({ certificate: "leaf" }, secondsUntil(leafMs));
      if (authorityMs !== undefined) expiry.set({ certificate: "authority" }, secondsUntil(authorityMs));
    },
  });
  gauge(registers, "tollgate_push_connections", "Streams of proxies to this operator.", () => fleet.connectionCount);
  gauge(
    registers,
    "tollgate_push_epoch",
    "The epoch, raised whenever the source goes back in time.",
    () => epochs.current,
  );
  gauge(registers, "tollgate_peers_known", "Followers that tell this leader of their proxies.", () => summaries.peers);
  gauge(
    registers,
    "tollgate_fleet_expected_proxies",
    "Proxy pods that the cluster reports as ready.",
    () => expected.ready?.size ?? 0,
  );
  gauge(
    registers,
    "tollgate_fleet_unconnected_proxies",
    "Proxy pods that are ready and connected to no operator; only the leader knows it, the others show 0.",
    () => (leadership.isLeader() ? fleet.absent.length : 0),
  );
  return {
    refused: (reason) => refused.inc({ reason }),
    behind: () => behind.inc(),
    posted: (outcome) => told.inc({ outcome }),
    accepted: (kind) => taken.inc({ kind }),
  };
}

function secondsUntil(timeMs: number): number {
  return Math.round((timeMs - Date.now()) / 1_000);
}

function gauge(registers: Registry[], name: string, help: string, read: () => number): void {
  const created: Gauge = new Gauge({ name, help, registers, collect: () => created.set(read()) });
}
