/** A clock that a test moves by hand. */
import type { Timers } from "#proxy/snapshot/push/timers";

export class ManualTimers implements Timers {
  #now = 0;
  #entries: { at: number; action: () => void }[] = [];

  now(): number {
    return this.#now;
  }

  wallClock(): number {
    return 1_700_000_000_000 + this.#now;
  }

  after(delayMs: number, action: () => void): () => void {
    const entry = { at: this.#now + delayMs, action };
    this.#entries.push(entry);
    return () => {
      this.#entries = this.#entries.filter((other) => other !== entry);
    };
  }

  /** Waiting actions. */
  get waiting(): number {
    return this.#entries.length;
  }

  /** Moves the clock and runs what becomes due, in order. */
  advance(byMs: number): void {
    const until = this.#now + byMs;
    for (;;) {
      const [next] = this.#entries.filter(({ at }) => at <= until).sort((one, other) => one.at - other.at);
      if (next === undefined) break;
      this.#entries = this.#entries.filter((other) => other !== next);
      this.#now = Math.max(this.#now, next.at);
      next.action();
    }
    this.#now = until;
  }
}
