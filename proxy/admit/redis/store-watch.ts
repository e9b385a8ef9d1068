/**
 * Looks at a store that is in use every few seconds: whether it is a primary still, may forget counters, or has
 * forgotten some (docs/design/limits-and-money.md 13).
 *
 * A connection outlives a change of the store's settings, and of its role behind an address that stays.
 */
import { memberOf, type StoreCheck, unfitness } from "./check-store.ts";
import type { StoreConnection } from "./store-connection.ts";

const watchEveryMs = 10_000;

export interface StoreWatchOptions {
  /** Told what is wrong with a store in use. */
  readonly onUnfit: (check: StoreCheck) => void;
  /** 10,000 by default. */
  readonly everyMs?: number | undefined;
}

export class StoreWatch {
  readonly #onUnfit: (check: StoreCheck) => void;
  readonly #timer: NodeJS.Timeout;
  #runId: string | undefined;
  #evicted = 0;
  /** Stays until this process ends: nobody knows which counters are missing. */
  #loss: StoreCheck | undefined;

  /** @param connection undefined while the store is not in use, or its connection is not there */
  constructor(connection: () => StoreConnection | undefined, { onUnfit, everyMs = watchEveryMs }: StoreWatchOptions) {
    this.#onUnfit = onUnfit;
    this.#timer = setInterval(() => {
      const inUse = connection();
      // One that does not answer is found by the commands that it does not answer.
      if (inUse !== undefined) this.#look(inUse).catch(() => undefined);
    }, everyMs);
    this.#timer.unref();
  }

  /** @returns what is wrong; undefined where the store can be counted in. Rejects where it does not answer */
  async problemOf(connection: StoreConnection): Promise<StoreCheck | undefined> {
    const info = await connection.info();
    this.#countEvicted(memberOf(info, "run_id"), Number(memberOf(info, "evicted_keys") ?? 0));
    return unfitness(info) ?? this.#loss;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #look(connection: StoreConnection): Promise<void> {
    const problem = await this.problemOf(connection);
    if (problem !== undefined) this.#onUnfit(problem);
  }

  /** A store that is new to us may have evicted keys long before it was ours; only more of them are a loss. */
  #countEvicted(runId: string | undefined, evicted: number): void {
    const more = runId === this.#runId ? evicted - this.#evicted : 0;
    this.#runId = runId;
    this.#evicted = evicted;
    if (more <= 0) return;
    const message = `the store has evicted ${more} keys: counters may be missing; restart the proxies to go on with those that are left`;
    this.#loss = { kind: "lost", message };
  }
}
