/**
 * Keeps the reservations of running requests alive: each is touched four times within its time to live.
 *
 * A reservation that nobody touches expires, so that a request that was lost without settling (a bug, a crash) frees
 * its counters. They are touched a few at a time: ten thousand at once would hold up the event loop for a tenth of a
 * second.
 */
import type { Ledger } from "#proxy/admit/ledger";
import { TransientMap } from "#proxy/runtime/transient-map";

/** Between two slices, and at most a quarter of the time to live. */
const sliceMs = 100;

export class ReservationHeartbeat {
  readonly #ledger: Pick<Ledger, "touch">;
  /** Least recently touched first, with the number of the slice in which each is touched next. */
  readonly #dueAt = new TransientMap<string, number>();
  readonly #slicesPerTouch: number;
  readonly #timer: NodeJS.Timeout;
  #slice = 0;

  /** @param ttlMs time to live of a reservation */
  constructor(ledger: Pick<Ledger, "touch">, ttlMs: number) {
    this.#ledger = ledger;
    this.#slicesPerTouch = Math.max(1, Math.floor(ttlMs / 4 / sliceMs));
    this.#timer = setInterval(() => this.#touchDue(), ttlMs / 4 / this.#slicesPerTouch);
    this.#timer.unref();
  }

  /** @param id just reserved; any number of times */
  add(id: string): void {
    if (this.#dueAt.get(id) === undefined) this.#dueAt.set(id, this.#slice + this.#slicesPerTouch);
  }

  delete(id: string): void {
    this.#dueAt.delete(id);
  }

  get size(): number {
    return this.#dueAt.size;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #touchDue(): void {
    this.#slice += 1;
    for (const id of this.#dueAt.keys()) {
      const due = this.#dueAt.get(id);
      if (due === undefined || due > this.#slice) return;
      this.#dueAt.delete(id);
      this.#dueAt.set(id, this.#slice + this.#slicesPerTouch);
      this.#ledger.touch(id);
    }
  }
}
