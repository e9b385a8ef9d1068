/**
 * The attempts that run now, with the key each works for: so that draining and revocation can end them.
 *
 * An array with swap-removal and not a `Map` keyed by attempt: measured, a map that lives long keeps what was deleted
 * from it alive until the next full collection, some 16 KB a request, and a third of all CPU time went to copying that.
 */
import type { Attempt, StopReason } from "./attempt.ts";

/** One entry of the list; given back to `delete`. */
export interface OpenAttempt {
  readonly attempt: Attempt;
  /** `namespace/name` */
  readonly key: string;
  index: number;
}

export class OpenAttempts {
  readonly #open: OpenAttempt[] = [];

  /** @param key `namespace/name` */
  add(attempt: Attempt, key: string): OpenAttempt {
    const entry = { attempt, key, index: this.#open.length };
    this.#open.push(entry);
    return entry;
  }

  /** Once for each entry that `add` gave. */
  delete(entry: OpenAttempt): void {
    const last = this.#open.pop();
    if (last === undefined || last === entry) return;
    this.#open[entry.index] = last;
    last.index = entry.index;
  }

  get size(): number {
    return this.#open.length;
  }

  /** Ends every attempt whose key the predicate picks; all of them when none is given. */
  stop(reason: StopReason, picks: (key: string) => boolean = () => true): void {
    for (const { attempt, key } of [...this.#open]) if (picks(key)) attempt.stop(reason);
  }
}
