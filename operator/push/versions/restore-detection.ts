/**
 * Detects a restored backup from objects that proxies refuse as deleted although this operator holds them.
 *
 * Either this operator lags behind them, or a backup was restored and it never saw the undone deletions: it started
 * after the restore, or the deletions never reached it. Only the source can tell, so it is asked about one object at a
 * time, and rarely.
 */

import { Backoff } from "#operator/kubernetes/watch/backoff";
import { systemTimers, type Timers } from "#proxy/snapshot/push/timers";

export interface RestoreDetectionOptions {
  /** A consistent read: whether the source has the object that this operator holds, by its wire id. */
  readonly exists: (id: string) => Promise<boolean>;
  /** Called when it has: the source went back. */
  readonly onReturn: () => void;
  /** Called when the source cannot be asked, once until it can; it is tried again. */
  readonly onFailure: (cause: unknown) => void;
  readonly timers?: Timers;
}

export interface RestoreDetection {
  /** Notes objects that a proxy refuses as deleted. @param ids wire ids: `key/<namespace>/<name>` */
  noteRefused(ids: readonly string[]): void;
  /** Forgets all refusals: they belong to the previous epoch and prove nothing. */
  forget(): void;
  close(): void;
}

const askEveryMs = 2_000;
/** The wait after a failure, such as an unreachable source or a missing Role. */
const failedMaxMs = 60_000;
/** One existing object proves a restore, so a sample suffices. */
const doubtedMax = 20;

export function detectRestore(options: RestoreDetectionOptions): RestoreDetection {
  const { exists, onReturn, onFailure, timers = systemTimers } = options;
  const doubted = new Set<string>();
  const backoff = new Backoff(askEveryMs, failedMaxMs);
  let isAsking = false;
  let isFailing = false;
  let isClosed = false;
  let isForgotten = false;
  let cancel = () => {};
  const askNext = async (): Promise<void> => {
    const [id] = doubted;
    isAsking = id !== undefined && !isClosed;
    if (id === undefined || isClosed) return;
    doubted.delete(id);
    isForgotten = false;
    let waitMs = askEveryMs;
    try {
      const isThere = await exists(id);
      isFailing = false;
      backoff.reset();
      if (isThere && !isForgotten) {
        doubted.clear();
        if (!isClosed) onReturn();
      }
    } catch (cause) {
      if (!isForgotten) doubted.add(id);
      if (!isClosed && !isFailing) onFailure(cause);
      isFailing = true;
      waitMs = backoff.next(askEveryMs);
    }
    // Also when no object is left to ask about: each acknowledgement names them again.
    if (!isClosed) cancel = timers.after(waitMs, () => void askNext());
  };
  return {
    noteRefused(ids) {
      for (const id of ids) if (doubted.size < doubtedMax) doubted.add(id);
      if (!isAsking) void askNext();
    },
    forget() {
      doubted.clear();
      isForgotten = true;
    },
    close() {
      isClosed = true;
      cancel();
    },
  };
}
