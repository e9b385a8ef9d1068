/** Describes one open reservation: the amounts it holds in which counters, until it is settled or expires. */

import type { Amounts, LimitState, Reservation } from "#proxy/admit/ledger";
import type { Limit } from "#proxy/snapshot/types.gen";
import type { BalanceCounter, LimitCounter } from "./limit-counter.ts";
import type { CountedWindow } from "./window-history.ts";

/**
 * Amounts as exact doubles. One call's cost is at most 2^53 - 1 nano-credits (nine million credits): more is cut
 * there, sums of calls are exact at any size.
 */
export interface NarrowAmounts {
  readonly requests: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costNanos: number;
}

/** Never negative: a wrong reading must not become credit. */
function narrow(amount: bigint): number {
  const value = Number(amount);
  return value <= 0 ? 0 : Math.min(value, Number.MAX_SAFE_INTEGER);
}

export function narrowAmounts(amounts: Amounts): NarrowAmounts {
  return {
    requests: narrow(amounts.requests),
    inputTokens: narrow(amounts.inputTokens),
    outputTokens: narrow(amounts.outputTokens),
    costNanos: narrow(amounts.costNanos),
  };
}

export const noAmounts: NarrowAmounts = { requests: 0, inputTokens: 0, outputTokens: 0, costNanos: 0 };

export function amountOf(unit: Limit["unit"], amounts: NarrowAmounts): number {
  switch (unit) {
    case "Requests":
      return amounts.requests;
    case "Tokens":
      return Math.min(amounts.inputTokens + amounts.outputTokens, Number.MAX_SAFE_INTEGER);
    case "InputTokens":
      return amounts.inputTokens;
    case "OutputTokens":
      return amounts.outputTokens;
    case "Cost":
      return amounts.costNanos;
  }
}

/** Requests in flight of one key or channel. */
export interface InFlightCounter {
  inFlight: number;
  /** Of reservations that expired and may be held again. */
  expired: number;
}

export class HeldReservation implements Reservation {
  readonly kind = "reserved";
  readonly id: string;
  readonly amounts: NarrowAmounts;
  readonly limits: readonly LimitCounter[];
  /** By limit, the window that it is held in. */
  readonly #windows: readonly CountedWindow[];
  readonly balances: readonly BalanceCounter[];
  readonly inFlight: readonly InFlightCounter[];
  /** By the monotonic clock. */
  touchedAtMs: number;
  #states: readonly LimitState[] | undefined;

  constructor(
    id: string,
    amounts: NarrowAmounts,
    limits: readonly LimitCounter[],
    windows: readonly CountedWindow[],
    balances: readonly BalanceCounter[],
    inFlight: readonly InFlightCounter[],
    tickMs: number,
  ) {
    this.id = id;
    this.amounts = amounts;
    this.limits = limits;
    this.#windows = windows;
    this.balances = balances;
    this.inFlight = inFlight;
    this.touchedAtMs = tickMs;
  }

  /** Read from the counters when first asked for: most calls never show them. */
  get states(): readonly LimitState[] {
    this.#states ??= this.limits.map((counter) => counter.state());
    return this.#states;
  }

  /** Keeps its counters while it has expired and may be held again. */
  countInExpired(change: 1 | -1): void {
    for (const counters of [this.limits, this.balances, this.inFlight])
      for (const counter of counters) counter.expired += change;
  }

  /** Takes back from all of its counters what was released in them. */
  holdAgain(nowMs: number): void {
    for (const { tally } of this.balances) tally.hold(this.amounts.costNanos);
    for (const counter of this.inFlight) counter.inFlight += 1;
    let index = 0;
    for (const counter of this.limits) {
      const window = this.#windows[index++];
      if (window !== undefined) counter.holdAgain(window, amountOf(window.unit, this.amounts), nowMs);
    }
  }

  /** Replaces in its limits what is held there by what was consumed. */
  settleLimits(held: NarrowAmounts, actual: NarrowAmounts, nowMs: number): void {
    let index = 0;
    for (const counter of this.limits) {
      const window = this.#windows[index++];
      if (window === undefined) continue;
      counter.settle(window, amountOf(window.unit, held), amountOf(window.unit, actual), nowMs);
    }
  }
}
