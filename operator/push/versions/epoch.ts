/**
 * The epoch: raised whenever the source itself goes back in time, as when etcd is restored from a backup, so that
 * proxies forget what they have seen of a past that never happened (`OPERATIONS.md` section 1 rule 12).
 *
 * Kept in a ConfigMap so that all operators agree. A restore may bring back an older epoch too: whoever has seen a
 * higher one, be it in a proxy's hello, raises above it. Any operator may raise; the ConfigMap is only ever written over
 * what was read.
 */

import type { OwnedData } from "#operator/certificates/owned-data";
import { systemTimers, type Timers } from "#proxy/snapshot/push/timers";

export interface Epochs {
  readonly current: number;
  /** For how long signs of a restore are still taken for those of the one that it was last raised for. */
  readonly stableInMs: number;
  /** Reads what other operators may have raised. @returns the epoch now */
  refresh(): Promise<number>;
  /**
   * The source went back: raises above the present epoch and `seen`. Many notice a restore, within moments of each
   * other; together they raise once.
   *
   * @returns the epoch now
   */
  raise(seen: number): Promise<number>;
  /** Told when it was raised, here or elsewhere. @returns a function that ends the listening */
  onRaise(listener: (epoch: number) => void): () => void;
}

/** What is noticed within this time of the last raise, here or elsewhere, is of the same restore, or made up. */
const oneRestoreMs = 60_000;
const attemptsMax = 8;
const retryFirstMs = 500;
const retryMaxMs = 15_000;
const member = "epoch";

export class StoredEpochs implements Epochs {
  readonly #store: OwnedData;
  readonly #timers: Timers;
  readonly #listeners = new Set<(epoch: number) => void>();
  #current = 1;
  #isRead = false;
  #raisedAt = Number.NEGATIVE_INFINITY;
  #raising: Promise<number> | undefined;

  /** @param store the ConfigMap */
  constructor(store: OwnedData, timers: Timers = systemTimers) {
    this.#store = store;
    this.#timers = timers;
  }

  get current(): number {
    return this.#current;
  }

  get stableInMs(): number {
    return Math.max(0, this.#raisedAt + oneRestoreMs - this.#timers.now());
  }

  async refresh(): Promise<number> {
    const stored = read((await this.#store.read())?.data);
    const isFirstLook = !this.#isRead;
    this.#isRead = true;
    // What the first look finds may have been raised long ago; a later one, for what will be noticed here in a moment.
    return isFirstLook || stored <= this.#current ? this.#adopt(stored) : this.#raised(stored);
  }

  async raise(seen: number): Promise<number> {
    if (this.stableInMs > 0) return this.#current;
    this.#raising ??= this.#raiseAbove(seen).finally(() => {
      this.#raising = undefined;
    });
    return this.#raising;
  }

  onRaise(listener: (epoch: number) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async #raiseAbove(seen: number): Promise<number> {
    if (!this.#isRead) {
      await this.refresh();
      // A proxy told of it, and nobody says that the source went back.
      if (seen > 0 && this.#current > seen) return this.#current;
    }
    // Before anything was read, what is stored may have been raised long ago and answers no sign of now.
    const known = this.#current;
    for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
      const held = await this.#store.read();
      const stored = read(held?.data);
      // Another operator noticed the same and was faster.
      if (stored > known && stored > seen) return this.#raised(stored);
      const next = Math.max(known, seen, stored) + 1;
      const data = { ...held?.data, [member]: String(next) };
      if (await this.#store.write(data, held?.version)) return this.#raised(next);
    }
    throw new Error("the ConfigMap of the epoch is changed by others all the time");
  }

  #raised(epoch: number): number {
    this.#raisedAt = this.#timers.now();
    return this.#adopt(epoch);
  }

  #adopt(epoch: number): number {
    if (epoch <= this.#current) return this.#current;
    this.#current = epoch;
    for (const listener of [...this.#listeners]) listener(epoch);
    return epoch;
  }
}

export interface RaiseOptions {
  readonly epochs: Pick<Epochs, "current" | "stableInMs" | "raise">;
  readonly timers?: Timers;
  /** Told of each failure; it is tried again. */
  readonly onFailure: (cause: unknown) => void;
}

export interface RestoreSigns {
  /** The source goes back: one of many signs of that, most of them of a restore that an epoch has begun for. */
  raise(): void;
  /**
   * Something removed since the epoch began is there again. It was not this epoch's restore that did that: proxies go
   * on refusing it until the next epoch, so the sign is kept for as long as others would be taken for that restore's.
   */
  raiseAgain(): void;
  close(): void;
}

/**
 * Raises the epoch whenever the source goes back, and does not let go before that is done: an API server that has just
 * come back often refuses at first, and until then proxies take nothing that they know for deleted.
 *
 * @returns what to call when it goes back, and how to stop
 */
export function raiseAfterRestore({ epochs, timers = systemTimers, onFailure }: RaiseOptions): RestoreSigns {
  let isUnderWay = false;
  /** The epoch against which a sign is kept. */
  let keptFor: number | undefined;
  let isClosed = false;
  let cancel = () => {};
  let cancelKept = () => {};
  const attempt = async (retryMs: number): Promise<void> => {
    try {
      await epochs.raise(0);
      isUnderWay = false;
    } catch (cause) {
      if (isClosed) return;
      onFailure(cause);
      cancel = timers.after(retryMs, () => void attempt(Math.min(retryMs * 2, retryMaxMs)));
    }
  };
  const raise = () => {
    // One more sign of the same restore.
    if (isUnderWay || isClosed) return;
    isUnderWay = true;
    void attempt(retryFirstMs);
  };
  const keep = (epoch: number) => {
    const stableInMs = epochs.stableInMs;
    keptFor = undefined;
    // Below an epoch that began meanwhile the removal counts no longer.
    if (epochs.current !== epoch) return;
    if (stableInMs === 0) return raise();
    keptFor = epoch;
    cancelKept = timers.after(stableInMs, () => keep(epoch));
  };
  return {
    raise,
    raiseAgain() {
      if (keptFor === epochs.current || isClosed) return;
      cancelKept();
      keep(epochs.current);
    },
    close() {
      isClosed = true;
      cancel();
      cancelKept();
    },
  };
}

/** Epochs count from 1. */
function read(data: Readonly<Record<string, string>> | undefined): number {
  const text = data?.[member] ?? "";
  return /^[1-9][0-9]{0,14}$/.test(text) ? Number(text) : 1;
}
