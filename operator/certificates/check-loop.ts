/** Runs a check at once and then regularly; after a failure sooner, with growing pauses. One check runs at a time. */
import type { Timers } from "#proxy/snapshot/push/timers";

export interface CheckLoopOptions {
  readonly everyMs: number;
  readonly timers: Timers;
  readonly check: () => Promise<void>;
  readonly onFailure: (cause: unknown) => void;
}

export interface CheckLoop {
  /** Resolves after the first check that succeeded, or when closed. */
  start(): Promise<void>;
  close(): void;
}

const retryFirstMs = 500;
const retryMaxMs = 30_000;

export function checkLoop({ everyMs, timers, check, onFailure }: CheckLoopOptions): CheckLoop {
  let isClosed = false;
  let failures = 0;
  let cancel = () => {};
  let resolveFirst = () => {};
  const first = new Promise<void>((resolve) => {
    resolveFirst = resolve;
  });
  const look = async () => {
    try {
      await check();
      failures = 0;
      resolveFirst();
    } catch (cause) {
      failures += 1;
      if (!isClosed) onFailure(cause);
    }
    if (isClosed) return;
    const retryMs = Math.min(retryFirstMs * 2 ** (failures - 1), retryMaxMs, everyMs);
    cancel = timers.after(failures === 0 ? everyMs : retryMs, () => void look());
  };
  let isStarted = false;
  return {
    start() {
      if (!isStarted) void look();
      isStarted = true;
      return first;
    },
    close() {
      isClosed = true;
      cancel();
      resolveFirst();
    },
  };
}
