/**
 * The epoch: a number that is raised whenever the source itself goes back in time, as when etcd is restored from a
 * backup. Proxies then forget the past that was undone (docs/design/configuration.md 3.12).
 *
 * It is stored in a ConfigMap so that all operators agree. A restore may bring back an older epoch too, so an operator
 * that knows of a higher one, for example from a proxy's hello, raises above it. Any operator may raise it; the
 * ConfigMap is only ever written over the version that was read.
 */

import type { OwnedData } from "#operator/certificates/owned-data";
import { systemTimers, type Timers } from "#proxy/snapshot/push/timers";

export interface Epochs {
  readonly current: number;
  /** How long signs of a restore still count for the restore that it was last raised for. */
  readonly stableInMs: number;
  /** Reads the epoch, which other operators may have raised. @returns the epoch now */
  refresh(): Promise<number>;
  /**
   * Raises above the present epoch and `seen`, because the source went back. Several parts notice a restore within moments
   * of each other; together they raise once.
   *
   * @returns the epoch now
   */
  raise(seen: number): Promise<number>;
  /** Calls back when it was raised, here or elsewhere. @returns a function that ends the listening */
  onRaise(listener: (epoch: number) => void): () => void;
}

/** A sign within this time of the last raise, here or elsewhere, belongs to the same restore, or is made up. */
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
    // The first read may find an epoch raised long ago; a later one finds a raise whose signs will come here in a moment.
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
      // Only a proxy's hello had a higher epoch; no sign tells that the source went back.
      if (seen > 0 && this.#current > seen) return this.#current;
    }
    // Before the first read the stored epoch may be an old one, which covers no present sign.
    const known = this.#current;
    for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
      const held = await this.#store.read();
      const stored = read(held?.data);
      // Another operator noticed the same restore and was faster.
      if (stored > known && stored > seen) return this.#raised(stored);
      const next = Math.max(known, seen, stored) + 1;
      const data = { ...held?.data, [member]: String(next) };
      if (await this.#store.write(data, held?.version)) return this.#raised(next);
    }
    throw new Error("other writers keep changing the ConfigMap of the epoch");
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
  /** Called for each failure; the raise is tried again. */
  readonly onFailure: (cause: unknown) => void;
}

export interface RestoreSigns {
  /** A sign that the source went back. One restore has many signs, most of them after its epoch has begun. */
  raise(): void;
  /**
   * An object that was removed in this epoch is there again, so there was another restore. Proxies refuse the object until
   * the next epoch, so the sign is kept while other signs still count for the earlier restore.
   */
  raiseAgain(): void;
  close(): void;
}

/**
 * Raises the epoch whenever the source goes back, and retries until that is done: an API server that has just come back
 * often refuses at first, and until the raise proxies refuse every object that they know as deleted.
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
    // In an epoch that began meanwhile the removal no longer counts.
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
