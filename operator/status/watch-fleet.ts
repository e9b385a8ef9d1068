/**
 * Acknowledgements, joins and leaves -> looks at status. They come in bursts, one a proxy and transaction, and are looked
 * at together.
 */
import type { Fleet } from "#operator/push/fleet";
import type { StatusReconciler } from "./status-reconciler.ts";

export interface WatchFleetOptions {
  readonly fleet: Pick<Fleet, "readyCount" | "rejectedIds" | "onChange">;
  readonly keeper: Pick<StatusReconciler, "lookAtAll" | "lookAtAcknowledgements">;
  /** Whether status is kept by this operator now. */
  readonly isKeeping: () => boolean;
  /** Whether all proxies have been heard since it is. */
  readonly isSettled: () => boolean;
}

export interface FleetWatch {
  /** All is to be looked at as for the first time. */
  restart(): void;
  close(): void;
}

const gatherMs = 20;
/** Between two looks whether all proxies have been heard. */
const settlingMs = 250;

export function watchFleet({ fleet, keeper, isKeeping, isSettled }: WatchFleetOptions): FleetWatch {
  let wasSettled = false;
  let wasServed = false;
  let rejected: ReadonlySet<string> = new Set();
  let gathering: NodeJS.Timeout | undefined;
  const look = () => {
    gathering = undefined;
    if (!isKeeping()) return;
    const isServed = fleet.readyCount > 0;
    const nowRejected = fleet.rejectedIds();
    // Only now is it known what all proxies hold.
    const hasSettled = !wasSettled && isSettled();
    if (isServed !== wasServed || hasSettled) keeper.lookAtAll();
    else keeper.lookAtAcknowledgements([...rejected, ...nowRejected]);
    wasServed = isServed;
    wasSettled ||= hasSettled;
    rejected = nowRejected;
  };
  const stopListening = fleet.onChange(() => {
    gathering ??= setTimeout(look, gatherMs).unref();
  });
  const settling = setInterval(() => {
    if (isKeeping() && !wasSettled && isSettled()) look();
  }, settlingMs).unref();
  return {
    restart() {
      wasSettled = false;
      wasServed = false;
    },
    close() {
      stopListening();
      clearInterval(settling);
      clearTimeout(gathering);
    },
  };
}
