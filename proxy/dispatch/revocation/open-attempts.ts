/**
 * Holds the attempts that run now and the call of each, so that draining and revocation can end them. Requests for
 * stored responses are among them.
 *
 * It is an array with swap-removal and not a `Map` keyed by attempt: measured, a map that lives long keeps deleted
 * entries alive until the next full collection, some 16 KB a request, and a third of all CPU time went to copying
 * them.
 */

import type { Attempt } from "#proxy/upstream/attempt";
import type { StopReason } from "#proxy/upstream/attempt-outcome";
import type { RunningCall } from "./is-still-allowed.ts";

/** All that is asked of it here. */
type Stoppable = Pick<Attempt, "stop">;

/** One entry of the list; given back to `delete`. */
export interface OpenAttempt {
  readonly attempt: Stoppable;
  readonly call: RunningCall;
  index: number;
}

export class OpenAttempts {
  readonly #open: OpenAttempt[] = [];
  #ended: StopReason | undefined;

  /** After `end` an attempt is stopped before it has begun: that of another target, or of a call that came late. */
  add(attempt: Stoppable, call: RunningCall): OpenAttempt {
    const entry = { attempt, call, index: this.#open.length };
    this.#open.push(entry);
    if (this.#ended !== undefined) attempt.stop(this.#ended);
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

  /** Ends every attempt whose call the predicate picks. */
  stop(reason: StopReason, picks: (call: RunningCall) => boolean): void {
    for (const { attempt, call } of [...this.#open]) if (picks(call)) attempt.stop(reason);
  }

  /** Ends every attempt, those to come as well. */
  end(reason: StopReason): void {
    this.#ended = reason;
    this.stop(reason, () => true);
  }
}
