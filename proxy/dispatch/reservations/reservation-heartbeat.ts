/**
 * Keeps the reservations of running requests alive: one timer touches all of them well within their time to live.
 *
 * A reservation that nobody touches expires, so that a request that was lost without settling (a bug, a crash) frees
 * its counters.
 */
import type { Ledger } from "#proxy/admit/ledger";
import { TransientMap } from "#proxy/runtime/transient-map";

export class ReservationHeartbeat {
  readonly #ids = new TransientMap<string, true>();
  readonly #timer: NodeJS.Timeout;

  /** @param ttlMs time to live of a reservation; touched four times within it */
  constructor(ledger: Ledger, ttlMs: number) {
    this.#timer = setInterval(() => {
      for (const id of this.#ids.keys()) ledger.touch(id);
    }, ttlMs / 4);
    this.#timer.unref();
  }

  add(id: string): void {
    this.#ids.set(id, true);
  }

  delete(id: string): void {
    this.#ids.delete(id);
  }

  get size(): number {
    return this.#ids.size;
  }

  close(): void {
    clearInterval(this.#timer);
  }
}
