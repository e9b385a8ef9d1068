/**
 * Keeps the last good file in step with the store: it is written after changes, never more often than a rest between
 * two writes allows, and never by two writers at once. A failed write is reported and tried again after the next rest.
 */
import { systemTimers, type Timers } from "#proxy/snapshot/push/timers";
import { writeLastGood } from "./last-good-file.ts";
import type { SnapshotStore } from "./snapshot-store.ts";

export interface FollowOptions {
  readonly store: SnapshotStore;
  readonly file: string;
  readonly key: Buffer;
  /** Told when a write failed. */
  readonly onFailure: (cause: unknown) => void;
  /** Pause between two writes: a full file of 100,000 keys costs about a second of CPU. */
  readonly restMs?: number;
  readonly timers?: Timers;
}

export interface Follower {
  /** Ends the following; what changed last is written before. */
  close(): Promise<void>;
}

export function followStore(options: FollowOptions): Follower {
  const { store, file, key, onFailure, restMs = 5_000, timers = systemTimers } = options;
  let writtenDigest = "";
  let isBusy = false;
  let isClosed = false;
  let cancelRest = () => {};
  let current: Promise<void> = Promise.resolve();

  const write = async () => {
    const snapshot = store.live;
    if (!store.isReady || snapshot.digest === writtenDigest) return;
    writtenDigest = snapshot.digest;
    try {
      await writeLastGood(file, key, snapshot, { epoch: store.epoch, versions: store.versions });
    } catch (cause) {
      writtenDigest = "";
      onFailure(cause);
    }
  };
  const rest = () => {
    if (isClosed) return;
    cancelRest = timers.after(restMs, () => {
      isBusy = false;
      if (store.live.digest !== writtenDigest) begin();
    });
  };
  const begin = () => {
    if (isBusy) return;
    isBusy = true;
    current = write().then(rest);
  };
  const stopListening = store.onEvent(({ type }) => {
    // The digest stays under a revocation, but the file must lose what is dead.
    if (type === "revoked") writtenDigest = "";
    begin();
  });
  return {
    async close() {
      stopListening();
      isClosed = true;
      cancelRest();
      await current;
      await write();
    },
  };
}
