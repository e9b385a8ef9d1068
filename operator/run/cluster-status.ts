/**
 * Wires status in a cluster: the leader writes to the API server what `status-loop.ts` computes, and sends Events.
 * Called by `run-in-cluster.ts`.
 */
import type { Registry } from "prom-client";
import { resultId } from "#operator/compile/compilation";
import type { ApiClient } from "#operator/kubernetes/api/api-client";
import type { Leadership } from "#operator/kubernetes/leader-election/leadership";
import { identityOf, type OwnKind, type ResourceSet } from "#operator/resources/resource";
import type { ObservedStatuses } from "#operator/status/cluster/observed-statuses";
import { registerStatusMetrics } from "#operator/status/cluster/status-metrics";
import { StatusWriter } from "#operator/status/cluster/status-writer";
import { EventWriter } from "#operator/status/events/event-writer";
import { type EventFacts, eventsOf, statusContested } from "#operator/status/events/events-of";
import { ExpiryNotices } from "#operator/status/events/expiry-notices";
import type { StatusDocument } from "#operator/status/status-document";
import { noStatus } from "#operator/status/status-sink";
import { type StatusLoop, type StatusLoopOptions, startStatusLoop } from "./status-loop.ts";

export interface ClusterStatusOptions extends Pick<StatusLoopOptions, "compilation" | "fleet" | "resources" | "log"> {
  readonly client: ApiClient;
  readonly leadership: Leadership;
  /** The source fills it. */
  readonly observedStatuses: ObservedStatuses;
  readonly isReachable: () => boolean;
  readonly registry: Registry;
  /** This operator, as Events name it. */
  readonly podName: string;
}

export interface ClusterStatusLoop extends StatusLoop {
  /** Sends an Event about a key. */
  sendKeyEvent(key: { readonly namespace: string; readonly name: string }, facts: EventFacts): void;
}

/** Begins to keep status; `started` ends it. */
export function startClusterStatus(started: AsyncDisposableStack, options: ClusterStatusOptions): ClusterStatusLoop {
  const { client, leadership, observedStatuses, resources, compilation, registry, isReachable, log } = options;
  const events = new EventWriter({ client, leadership, isReachable, podName: options.podName, log });
  started.defer(() => events.close());
  const sendKeyEvent: ClusterStatusLoop["sendKeyEvent"] = ({ namespace, name }, facts) => {
    const uid = resources.apiKeys.get(identityOf({ namespace, name }))?.metadata.uid;
    if (uid !== undefined) events.send({ kind: "ApiKey", namespace, name, uid }, facts);
  };
  const expiries = new ExpiryNotices({
    results: () => compilation.results,
    isLeader: () => leadership.isLeader(),
    tell: sendKeyEvent,
  });
  started.defer(() => expiries.close());
  started.defer(leadership.onChange(() => void expiries.reconcileAll()));
  const writer = new StatusWriter({
    client,
    leadership,
    observedStatuses,
    desired(id) {
      const document = loop.statusOf(id);
      return document && { document, uid: uidOf(document, resources) };
    },
    ids: () => loop.ids(),
    isReachable,
    onWritten(before, after, uid) {
      const regarding = { kind: after.kind, ...after.metadata, uid };
      for (const facts of eventsOf(before, after)) events.send(regarding, facts);
    },
    onContested: (document, uid, why) =>
      events.send({ kind: document.kind, ...document.metadata, uid }, statusContested(why)),
    log,
  });
  const loop = startStatusLoop({
    ...options,
    sink: {
      ...noStatus,
      put: ({ kind, metadata }) => writer.enqueue(resultId(kind, metadata.namespace, metadata.name)),
      close: async () => writer.close(),
    },
    observed(id) {
      const found = observedStatuses.get(id);
      // Another object of that name was deleted.
      return found?.document && found.uid === uidOf(found.document, resources) ? found.document : undefined;
    },
  });
  started.defer(() => loop.close());
  started.defer(observedStatuses.onObserved((id) => loop.observe(id)));
  registerStatusMetrics(registry, writer, events);
  return {
    ...loop,
    sendKeyEvent,
    reconcile(changes) {
      for (const [id, result] of changes.results) {
        if (result === undefined && !compilation.results.has(id)) observedStatuses.forget(id);
        expiries.reconcile(id, result);
      }
      loop.reconcile(changes);
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
