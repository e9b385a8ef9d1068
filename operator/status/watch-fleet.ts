/**
 * Turns changes of the fleet (acknowledgements, joins, leaves) into calls of the status reconciler. They come in
 * bursts, one for each proxy and transaction, and each burst makes one call.
 */
import type { Fleet } from "#operator/push/fleet";
import type { StatusReconciler } from "./status-reconciler.ts";

export interface WatchFleetOptions {
  readonly fleet: Pick<Fleet, "readyCount" | "rejectedIds" | "onChange">;
  readonly reconciler: Pick<StatusReconciler, "reconcileAll" | "reconcileAcknowledgements">;
  /** Whether status is kept by this operator now. */
  readonly isKeeping: () => boolean;
  /** Whether all proxies have reported since then. */
  readonly isStable: () => boolean;
}

export interface FleetWatch {
  /** The next change reconciles all objects, as at the start. */
  restart(): void;
  close(): void;
}

const gatherMs = 20;
/** Between two checks whether all proxies have reported. */
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
    // All proxies have just reported for the first time.
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
