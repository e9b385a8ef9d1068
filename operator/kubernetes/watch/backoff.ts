/**
 * Waits that double after each failure. Each wait is random between half and whole, so that many clients do not return
 * at the same moment.
 */
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

  /** The wait after one more failure. @param leastMs the server's own wish @param mostMs the most beyond it */
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
    // Aborted: the caller checks the signal next.
  }
}
