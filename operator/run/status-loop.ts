/**
 * Connects status to its causes: passes of the compiler, acknowledgements of the fleet, and time.
 *
 * Changed status goes to a sink (files or the API server), and a person at the terminal reads what an edit did. Of
 * several operators only the leader keeps status, and each leader goes on from the status that the one before it left.
 */

import { type Compilation, type CompileChanges, resultId } from "#operator/compile/compilation";
import { type Leadership, soleOperator } from "#operator/kubernetes/leader-election/leadership";
import type { Fleet } from "#operator/push/fleet";
import {
  identityOf,
  type Origin,
  type OwnKind,
  type ResourceSet,
  type SourceProblem,
} from "#operator/resources/resource";
import type { OperatorLog } from "#operator/settings";
import { observedUse } from "#operator/status/cluster/observed-use";
import type { ResourceAcknowledgement } from "#operator/status/conditions";
import { type AwaitedSecret, ConsoleReporter } from "#operator/status/console-reporter";
import { describeProblem } from "#operator/status/report-changes";
import type { StatusDocument } from "#operator/status/status-document";
import { StatusReconciler } from "#operator/status/status-reconciler";
import type { StatusSink } from "#operator/status/status-sink";
import { UsageObserver } from "#operator/status/usage-observer";
import { watchFleet } from "#operator/status/watch-fleet";
import type { Report } from "#proxy/snapshot/push/messages";

export interface StatusLoopOptions {
  readonly compilation: Compilation;
  readonly fleet: Fleet;
  readonly resources: ResourceSet;
  /** Receives each changed status. */
  readonly sink: StatusSink;
  readonly log: OperatorLog;
  /** Secrets that wait for an environment variable. */
  readonly awaited?: readonly AwaitedSecret[] | undefined;
  /** Decides which of several operators keeps status; by default this one. */
  readonly leadership?: Leadership;
  /** Where status outlives the operator: the observed status of the present object, by `resultId`. */
  readonly observed?: (id: string) => StatusDocument | undefined;
  /** Between two usage figures of one object; a minute by default. */
  readonly usageEveryMs?: number | undefined;
}

export interface StatusLoop {
  /** The desired status, by `resultId`; undefined while another operator keeps status. */
  statusOf(id: string): StatusDocument | undefined;
  /** The objects that have a status, by `resultId`. */
  ids(): Iterable<string>;
  /** The watch brought an object's status, perhaps from an operator that led before. */
  observe(id: string): void;
  /** A proxy's report of use. */
  acceptReport(proxy: string, report: Report): void;
  /** After a pass of the compiler. */
  reconcile(changes: CompileChanges): void;
  /** Finds the status files of an earlier run; call it before the first pass. */
  prepare(): Promise<void>;
  /** Removes the files of objects that were deleted while no operator ran; call it after the first pass. */
  removeStale(): void;
  close(): Promise<void>;
}

/** Expiry shows in status within this time; proxies enforce it by their own clock. */
const clockMs = 5_000;

export function startStatusLoop(options: StatusLoopOptions): StatusLoop {
  const { compilation, fleet, resources, sink, log, leadership = soleOperator, observed } = options;
  const rest = observed ? "see the status of the objects" : "see the status files in the data folder";
  const reporter = new ConsoleReporter({ log, resources, rest, ...(options.awaited && { awaited: options.awaited }) });
  const use = new UsageObserver({
    compilation,
    enqueue: (ids) => reconciler.enqueue(ids),
    inherited(id) {
      const document = observed?.(id);
      return document && observedUse(document, resources);
    },
    everyMs: options.usageEveryMs,
    isStable: () => isStable(),
  });
  // Without a cluster no other operator or proxy can report later.
  const isStable = () => observed === undefined || fleet.isStable;
  const reconciler = new StatusReconciler({
    observeUse: (result) => use.observe(result),
    compilation,
    ...(observed && { inherited: observed }),
    acknowledgementOf: (wireId) => pendingUntilStable(fleet.acknowledgementOf(wireId), isStable()),
    now: () => Date.now(),
    isSyncing: () => fleet.isSyncing,
    onChange: (before, after) => {
      if (after !== undefined) sink.put(after);
      else if (before !== undefined) sink.remove({ kind: before.kind, ...before.metadata });
      const document = after ?? before;
      const origin = document && originOf(document.kind, identityOf(document.metadata), resources);
      reporter.report(before, after, origin);
    },
  });
  let isKeeping = leadership.isLeader();
  const watch = watchFleet({ fleet, reconciler, isStable, isKeeping: () => isKeeping });
  const clock = setInterval(() => reconciler.reconcileDue(), clockMs).unref();
  const stopFollowing = leadership.onChange(() => {
    if (isKeeping === leadership.isLeader()) return;
    isKeeping = leadership.isLeader();
    reconciler.reset();
    watch.restart();
    use.restart();
    if (!isKeeping) return;
    fleet.stabilise();
    reconciler.reconcileAll();
  });
  return statusLoop(options, { reconciler, use, isStable, isKeeping: () => isKeeping }, async () => {
    stopFollowing();
    watch.close();
    use.close();
    clearInterval(clock);
    reporter.flush();
    reconciler.close();
    await sink.close();
  });
}

interface StatusParts {
  readonly reconciler: StatusReconciler;
  readonly use: UsageObserver;
  readonly isStable: () => boolean;
  readonly isKeeping: () => boolean;
}

function statusLoop(
  { compilation, resources, sink, log, observed }: StatusLoopOptions,
  { reconciler, use, isStable, isKeeping }: StatusParts,
  close: () => Promise<void>,
): StatusLoop {
  let told: ReadonlySet<string> = new Set();
  return {
    statusOf: (id) => (isKeeping() ? reconciler.statusOf(id) : undefined),
    ids: () => reconciler.documents.keys(),
    observe(id) {
      const document = isKeeping() ? observed?.(id) : undefined;
      if (document !== undefined) reconciler.observe(id, document, !isStable());
    },
    acceptReport(proxy, report) {
      if (isKeeping()) use.acceptReport(proxy, report);
    },
    reconcile(changes) {
      told = reportProblems(log, resources.problems, told);
      if (!isKeeping()) return;
      use.reconcile(changes);
      reconciler.reconcile(changes);
    },
    prepare: () => sink.findPresent(),
    removeStale() {
      // Ask the compiler's results: the reconciler may not have finished with them.
      sink.removeAllBut(({ kind, namespace, name }) => {
        return isOwnKind(kind) && compilation.results.has(resultId(kind, namespace, name));
      });
    },
    close,
  };
}

/** Until all proxies have reported, neither "every proxy has this version" nor "there are no proxies" is known. */
function pendingUntilStable(acknowledgement: ResourceAcknowledgement, isStable: boolean): ResourceAcknowledgement {
  const { state } = acknowledgement;
  if (isStable || (state !== "Programmed" && state !== "NoProxies")) return acknowledgement;
  return { ...acknowledgement, state: "Pending" };
}

function isOwnKind(kind: string): kind is OwnKind {
  return kind === "ApiKey" || kind === "Channel" || kind === "ModelRoute" || kind === "Account";
}

function originOf(kind: OwnKind, identity: string, resources: ResourceSet): Origin | undefined {
  switch (kind) {
    case "ApiKey":
      return resources.apiKeys.get(identity)?.origin;
    case "Channel":
      return resources.channels.get(identity)?.origin;
    case "ModelRoute":
      return resources.modelRoutes.get(identity)?.origin;
    case "Account":
      return resources.accounts.get(identity)?.origin;
    default:
      return kind satisfies never;
  }
}

/** @returns the present problems, so that each problem is told once while it lasts. */
function reportProblems(
  log: OperatorLog,
  problems: readonly SourceProblem[],
  told: ReadonlySet<string>,
): ReadonlySet<string> {
  const lines = new Set(problems.map(describeProblem));
  for (const line of lines) if (!told.has(line)) log.warn(line);
  return lines;
}
