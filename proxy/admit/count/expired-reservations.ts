/**
 * Keeps reservations that nobody settled or touched in time, for a day: their calls may still be running, and then are
 * settled late or held again. Until then their counters are not forgotten.
 */
import type { HeldReservation } from "./held-reservation.ts";

/** A settlement this long after its reservation expired is still posted. */
const lateSettlementMs = 24 * 3_600_000;
const expiredMax = 100_000;

export class ExpiredReservations {
  readonly #held = new Map<string, HeldReservation>();

  add(held: HeldReservation): void {
    this.#held.set(held.id, held);
    held.countInExpired(1);
  }

  /** @returns the reservation, which is not kept any longer */
  take(id: string): HeldReservation | undefined {
    const held = this.#held.get(id);
    if (held === undefined) return undefined;
    this.#held.delete(id);
    held.countInExpired(-1);
    return held;
  }

  /** @param dueMs when those expired that expire now, by the clock of `touchedAtMs` */
  forgetOld(dueMs: number): void {
    for (const held of this.#held.values()) {
      const isOld = held.touchedAtMs + lateSettlementMs <= dueMs;
      if (!isOld && this.#held.size <= expiredMax) return;
      this.take(held.id);
    }
  }
}
