/**
 * Status in a cluster: what `keep-status.ts` says is written to the API server by the leader, and told as Events. Wiring
 * only; called by `run-in-cluster.ts`.
 */
import type { Registry } from "prom-client";
import { resultId } from "./compile/compilation.ts";
import { type KeepStatusOptions, keepStatus, type StatusLoop } from "./keep-status.ts";
import type { ApiClient } from "./kubernetes/api-client.ts";
import type { Leadership } from "./leader/leadership.ts";
import { identityOf, type OwnKind, type ResourceSet } from "./resources/resource.ts";
import type { StandingStatuses } from "./status/cluster/standing-statuses.ts";
import { registerStatusMetrics } from "./status/cluster/status-metrics.ts";
import { StatusWriter } from "./status/cluster/status-writer.ts";
import { EventWriter } from "./status/events/event-writer.ts";
import { type EventFacts, eventsOf, statusContested } from "./status/events/events-of.ts";
import { ExpiryNotices } from "./status/events/expiry-notices.ts";
import type { StatusDocument } from "./status/status-document.ts";
import { noStatus } from "./status/status-sink.ts";

export interface ClusterStatusOptions extends Pick<KeepStatusOptions, "compilation" | "fleet" | "resources" | "log"> {
  readonly client: ApiClient;
  readonly leadership: Leadership;
  /** Filled by the source. */
  readonly standing: StandingStatuses;
  readonly isReachable: () => boolean;
  readonly registry: Registry;
  /** This operator, as Events name it. */
  readonly podName: string;
}

export interface ClusterStatusLoop extends StatusLoop {
  /** Tells something about a key in an Event. */
  tellOfKey(key: { readonly namespace: string; readonly name: string }, facts: EventFacts): void;
}

/** Begins to keep status; `started` ends it. */
export function keepClusterStatus(started: AsyncDisposableStack, options: ClusterStatusOptions): ClusterStatusLoop {
  const { client, leadership, standing, resources, compilation, registry, isReachable, log } = options;
  const events = new EventWriter({ client, leadership, isReachable, podName: options.podName, log });
  started.defer(() => events.close());
  const tellOfKey: ClusterStatusLoop["tellOfKey"] = ({ namespace, name }, facts) => {
    const uid = resources.apiKeys.get(identityOf({ namespace, name }))?.metadata.uid;
    if (uid !== undefined) events.tell({ kind: "ApiKey", namespace, name, uid }, facts);
  };
  const expiries = new ExpiryNotices({
    results: () => compilation.results,
    isLeader: () => leadership.isLeader(),
    tell: tellOfKey,
  });
  started.defer(() => expiries.close());
  started.defer(leadership.onChange(() => void expiries.lookAtAll()));
  const writer = new StatusWriter({
    client,
    leadership,
    standing,
    desired(id) {
      const document = loop.statusOf(id);
      return document && { document, uid: uidOf(document, resources) };
    },
    ids: () => loop.ids(),
    isReachable,
    onWritten(before, after, uid) {
      const regarding = { kind: after.kind, ...after.metadata, uid };
      for (const facts of eventsOf(before, after)) events.tell(regarding, facts);
    },
    onContested: (document, uid, why) =>
      events.tell({ kind: document.kind, ...document.metadata, uid }, statusContested(why)),
    log,
  });
  const loop = keepStatus({
    ...options,
    sink: {
      ...noStatus,
      put: ({ kind, metadata }) => writer.look(resultId(kind, metadata.namespace, metadata.name)),
      close: async () => writer.close(),
    },
    standing(id) {
      const stands = standing.get(id);
      // Another object of that name was deleted.
      return stands?.document && stands.uid === uidOf(stands.document, resources) ? stands.document : undefined;
    },
  });
  started.defer(() => loop.close());
  started.defer(standing.onSeen((id) => loop.see(id)));
  registerStatusMetrics(registry, writer, events);
  return {
    ...loop,
    tellOfKey,
    look(changes) {
      for (const [id, result] of changes.results) {
        if (result === undefined && !compilation.results.has(id)) standing.forget(id);
        expiries.look(id, result);
      }
      loop.look(changes);
    },
  };
}

function uidOf({ kind, metadata }: StatusDocument, resources: ResourceSet): string | undefined {
  return mapOf(kind, resources).get(identityOf(metadata))?.metadata.uid;
}

function mapOf(kind: OwnKind, { apiKeys, channels, modelRoutes, accounts }: ResourceSet) {
  switch (kind) {
    case "ApiKey":
      return apiKeys;
    case "Channel":
      return channels;
    case "ModelRoute":
      return modelRoutes;
    case "Account":
      return accounts;
    default:
      return kind satisfies never;
  }
}
