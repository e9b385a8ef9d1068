/**
 * Acknowledgements, joins and leaves -> looks at status. They come in bursts, one a proxy and transaction, and are looked
 * at together.
 */
import type { Fleet } from "#operator/push/fleet";
import type { StatusReconciler } from "./status-reconciler.ts";

export interface WatchFleetOptions {
  readonly fleet: Pick<Fleet, "readyCount" | "rejectedIds" | "onChange">;
  readonly reconciler: Pick<StatusReconciler, "reconcileAll" | "reconcileAcknowledgements">;
  /** Whether status is kept by this operator now. */
  readonly isKeeping: () => boolean;
  /** Whether all proxies have been heard since it is. */
  readonly isStable: () => boolean;
}

export interface FleetWatch {
  /** All is to be looked at as for the first time. */
  restart(): void;
  close(): void;
}

const gatherMs = 20;
/** Between two looks whether all proxies have been heard. */
const stableCheckMs = 250;

export function watchFleet({ fleet, reconciler, isKeeping, isStable }: WatchFleetOptions): FleetWatch {
  let wasStable = false;
  let wasServed = false;
  let rejected: ReadonlySet<string> = new Set();
  let gathering: NodeJS.Timeout | undefined;
  const reconcile = () => {
    gathering = undefined;
    if (!isKeeping()) return;
    const isServed = fleet.readyCount > 0;
    const nowRejected = fleet.rejectedIds();
    // Only now is it known what all proxies hold.
    const hasStabilised = !wasStable && isStable();
    if (isServed !== wasServed || hasStabilised) reconciler.reconcileAll();
    else reconciler.reconcileAcknowledgements([...rejected, ...nowRejected]);
    wasServed = isServed;
    wasStable ||= hasStabilised;
    rejected = nowRejected;
  };
  const stopListening = fleet.onChange(() => {
    gathering ??= setTimeout(reconcile, gatherMs).unref();
  });
  const stableCheck = setInterval(() => {
    if (isKeeping() && !wasStable && isStable()) reconcile();
  }, stableCheckMs).unref();
  return {
    restart() {
      wasStable = false;
      wasServed = false;
    },
    close() {
      stopListening();
      clearInterval(stableCheck);
      clearTimeout(gathering);
    },
  };
}
