/** Remembers what this process holds in the shared store, for as long as it may still be settled. */
import type { NarrowAmounts } from "#proxy/admit/count/held-reservation";
import type { LedgerCounts } from "#proxy/admit/count/ledger-counts";
import { SettledIds } from "#proxy/admit/count/settled-ids";
import type { Reservation } from "#proxy/admit/ledger";
import { TransientMap } from "#proxy/runtime/transient-map";
import type { Claims } from "./local-counts.ts";

export interface Held {
  readonly reservation: Reservation;
  readonly amounts: NarrowAmounts;
  /** What it was made against, for a store that loses it. Absent: without any limit, and the store was not asked. */
  readonly heldIn?: Claims;
  /** When it was made, by the store's clock. */
  readonly atMs: number;
  /** By the monotonic clock. */
  touchedAtMs: number;
  /** Of one without any limit: that is noticed here alone. */
  isExpired: boolean;
}

/** So long after its expiry a reservation may still be settled or held again. */
const lateMs = 24 * 3_600_000;

export class HeldReservations {
  readonly #now: () => number;
  readonly #ttlMs: number;
  readonly #counts: Pick<LedgerCounts, "expired" | "resumed">;
  /** Of those without any limit. */
  readonly #settledIds = new SettledIds();
  /** Least recently touched first. */
  readonly #held = new TransientMap<string, Held>();

  /**
   * @param now the monotonic clock, in milliseconds
   * @param counts of what expires without being in the store
   */
  constructor(now: () => number, ttlMs: number, counts: Pick<LedgerCounts, "expired" | "resumed">) {
    this.#now = now;
    this.#ttlMs = ttlMs;
    this.#counts = counts;
  }

  get(id: string): Held | undefined {
    return this.#held.get(id);
  }

  add(held: Omit<Held, "touchedAtMs" | "isExpired">): void {
    this.#held.set(held.reservation.id, { ...held, touchedAtMs: this.#now(), isExpired: false });
  }

  /** @returns what is not remembered any longer */
  take(id: string): Held | undefined {
    const held = this.#held.get(id);
    if (held !== undefined) this.#held.delete(id);
    return held;
  }

  /**
   * Settles what was reserved without any limit.
   *
   * @param held what `take` gave
   * @returns undefined for one that the store knows, if anybody does
   */
  settleUnlimited(id: string, held: Held | undefined): "settled" | "late" | "repeated" | undefined {
    if (held === undefined) return this.#settledIds.has(id) ? "repeated" : undefined;
    if (held.heldIn !== undefined) return undefined;
    this.#settledIds.add(id);
    return held.isExpired ? "late" : "settled";
  }

  /** Notes that its call is running. */
  touch(id: string): Held | undefined {
    const held = this.take(id);
    if (held === undefined) return undefined;
    held.touchedAtMs = this.#now();
    if (held.isExpired) this.#counts.resumed += 1;
    held.isExpired = false;
    this.#held.set(id, held);
    return held;
  }

  /** How many have not expired. Those that have are forgotten a day later: their calls may go on. */
  countOpen(): number {
    const expiredMs = this.#now() - this.#ttlMs;
    let expired = 0;
    for (const id of this.#held.keys()) {
      const held = this.#held.get(id);
      if (held === undefined || held.touchedAtMs > expiredMs) break;
      if (held.heldIn === undefined && !held.isExpired) {
        held.isExpired = true;
        this.#counts.expired += 1;
      }
      if (held.touchedAtMs <= expiredMs - lateMs) this.#held.delete(id);
      else expired += 1;
    }
    return this.#held.size - expired;
  }
}
