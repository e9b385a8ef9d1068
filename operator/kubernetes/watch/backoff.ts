/** Waits that double after each failure, each random between half and whole so that many do not come at once. */
import { setTimeout as wait } from "node:timers/promises";

export class Backoff {
  readonly #minMs: number;
  readonly #maxMs: number;
  readonly #random: () => number;
  #nextMs: number;

  constructor(minMs: number, maxMs: number, random: () => number = Math.random) {
    this.#minMs = minMs;
    this.#maxMs = maxMs;
    this.#random = random;
    this.#nextMs = minMs;
  }

  /** How long to wait after one more failure. @param leastMs what the server asked for @param mostMs beyond that */
  next(leastMs = 0, mostMs = this.#maxMs): number {
    const delayMs = Math.min(this.#nextMs, mostMs) * (0.5 + this.#random() / 2);
    this.#nextMs = Math.min(this.#nextMs * 2, this.#maxMs);
    return Math.max(delayMs, leastMs);
  }

  /** It works again. */
  reset(): void {
    this.#nextMs = this.#minMs;
  }
}

/** Waits, or ends at once when the signal is aborted; never throws. */
export async function pause(delayMs: number, signal: AbortSignal): Promise<void> {
  try {
    await wait(delayMs, undefined, { signal });
  } catch {
    // Aborted: whoever waits looks at the signal next.
  }
}
