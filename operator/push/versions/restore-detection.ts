/**
 * What proxies refuse as deleted although this operator holds it. Either it lags behind them, or a backup was restored
 * and it has seen nothing of what that undid: it began after the restore, or what was undone never reached it. Only the
 * source can tell, and is asked about one object at a time and seldom.
 */

import { Backoff } from "#operator/kubernetes/watch/backoff";
import { systemTimers, type Timers } from "#proxy/snapshot/push/timers";

export interface RestoreDetectionOptions {
  /** A consistent read: whether the source has the very object that this operator holds, by the id of the wire. */
  readonly exists: (id: string) => Promise<boolean>;
  /** It has: the source went back. */
  readonly onReturn: () => void;
  /** Told that it cannot be asked, once until it can; it is tried again. */
  readonly onFailure: (cause: unknown) => void;
  readonly timers?: Timers;
}

export interface RestoreDetection {
  /** Takes note of what a proxy refuses as deleted. @param ids as the wire names objects: `key/<namespace>/<name>` */
  doubt(ids: readonly string[]): void;
  /** A new epoch began: what was refused in the one before proves nothing. */
  forget(): void;
  close(): void;
}

const askEveryMs = 2_000;
/** While the source does not answer, or refuses as without its Role. */
const failedMaxMs = 60_000;
/** One that exists proves a restore, so a sample does. */
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
    // Also where nothing is left to ask about: each acknowledgement names them anew.
    if (!isClosed) cancel = timers.after(waitMs, () => void askNext());
  };
  return {
    doubt(ids) {
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
