/**
 * Implements the ledger in memory. It makes every decision of the embedded store too, and `embedded-ledger.ts`
 * journals them.
 *
 * Invariants: all counters of a reservation are held or none; posted + pending of an enforced limit or a balance never
 * passes its ceiling by a reservation (only by a settlement above its reservation, which is counted); every admitted
 * request is settled once or expires, and nothing of it is pending afterwards. A reservation belongs to the window in
 * which it was made: settled after that window's end, it no longer counts in a limit, but it always counts in the
 * balance.
 *
 * The hot path builds no strings and asks no calendar; `reserve` and `settle` are one synchronous step each. Callers:
 * `handle-request.ts` for keys, accounts and routes, and once more for each attempt on a channel.
 */
import { TransientMap } from "#proxy/runtime/transient-map";
import type { Limit } from "#proxy/snapshot/types.gen";
import { ClaimedCounterCache, type ClaimedCounters } from "./count/claimed-counters.ts";
import { ExpiredReservations } from "./count/expired-reservations.ts";
import {
  amountOf,
  HeldReservation,
  type InFlightCounter,
  type NarrowAmounts,
  narrowAmounts,
  noAmounts,
} from "./count/held-reservation.ts";
import { type LedgerCounts, zeroCounts } from "./count/ledger-counts.ts";
import type { LedgerJournal } from "./count/ledger-journal.ts";
import { BalanceCounter, LimitCounter, LimitRules } from "./count/limit-counter.ts";
import { refusalOf } from "./count/refusal.ts";
import { SettledIds } from "./count/settled-ids.ts";
import type { Amounts, CounterReading, Ledger, Refusal, Reservation, ReserveRequest, SettleOutcome } from "./ledger.ts";
import type { StoredCounter } from "./store/store-messages.ts";

export interface MemoryLedgerOptions {
  /** Milliseconds since the epoch: for windows of the calendar, and for what is told and stored. */
  readonly now: () => number;
  /**
   * Milliseconds that nobody sets, `performance.now` unless given: for how long a reservation lives and how fast a
   * bucket fills. A step of the wall clock must not free what running calls hold (docs/design/reliability.md M1).
   */
  readonly monotonicNow?: () => number;
  readonly reservationTtlMs: number;
  /** Told when a limit in Shadow mode would have refused. */
  readonly onShadowRefusal?: (counter: string, limit: Limit) => void;
  readonly journal?: LedgerJournal;
}

/**
 * Counters of deleted objects are kept so long: deleting and creating again resets nothing
 * (docs/design/limits-and-money.md 6).
 */
export const counterRetentionMs = 30 * 86_400_000;

export class MemoryLedger implements Ledger {
  readonly counts: LedgerCounts = zeroCounts();
  readonly rules = new LimitRules();
  readonly #options: MemoryLedgerOptions;
  readonly #monotonicNow: () => number;
  readonly #limits = new Map<string, LimitCounter>();
  readonly #balances = new Map<string, BalanceCounter>();
  /** Read from disk and not used since: their limits are not known yet. */
  readonly #stored = new Map<string, StoredCounter>();
  #restoredAtMs = 0;
  readonly #inFlight = new Map<string, InFlightCounter>();
  readonly #claimed = new ClaimedCounterCache();
  /** Least recently touched first, so that expiry looks at the front only. */
  readonly #open = new TransientMap<string, HeldReservation>();
  readonly #expired = new ExpiredReservations();
  readonly #settledIds = new SettledIds();
  #nextExpiryMs = Number.NEGATIVE_INFINITY;

  constructor(options: MemoryLedgerOptions) {
    this.#options = options;
    this.#monotonicNow = options.monotonicNow ?? (() => performance.now());
  }

  get openCount(): number {
    return this.#open.size;
  }

  reserve(request: ReserveRequest): Reservation | Refusal {
    const nowMs = this.#now();
    const tickMs = this.rules.tickAt(nowMs);
    if (tickMs >= this.#nextExpiryMs) this.#expire(tickMs);
    const known = this.#open.get(request.id);
    if (known !== undefined) return known;
    const amounts = narrowAmounts(request.amounts);
    const { limits, balances, inFlight } = this.#countersOf(request, nowMs);
    if (!this.#allFit(request, amounts, limits, balances, inFlight)) {
      this.counts.refused += 1;
      return refusalOf(request, amounts, limits, balances, inFlight, nowMs);
    }
    const windows = limits.map((counter) => counter.hold(amountOf(counter.rule.unit, amounts)));
    for (const balance of balances) balance.tally.hold(amounts.costNanos);
    for (const counter of inFlight) counter.inFlight += 1;
    const held = new HeldReservation(request.id, amounts, limits, windows, balances, inFlight, tickMs);
    this.#open.set(request.id, held);
    this.counts.reserved += 1;
    this.#options.journal?.openChanged();
    return held;
  }

  settle(id: string, actual: Amounts): SettleOutcome {
    const held = this.#open.get(id);
    if (held === undefined) return this.#settleClosed(id, actual);
    this.#open.delete(id);
    this.#settledIds.add(id);
    this.counts.settled += 1;
    this.#close(held, narrowAmounts(actual));
    return "settled";
  }

  touch(id: string): void {
    const held = this.#open.get(id) ?? this.#resume(id);
    if (held === undefined) return;
    held.touchedAtMs = this.rules.tickAt(this.#now());
    this.#open.delete(id);
    this.#open.set(id, held);
  }

  read(name: string): CounterReading | undefined {
    const nowMs = this.#now();
    this.#expire(this.rules.tickAt(nowMs));
    const counter = this.#limits.get(name);
    if (counter !== undefined) {
      const { lastUsedMs } = counter;
      counter.refresh(nowMs);
      counter.lastUsedMs = lastUsedMs;
      const { posted, startMs: windowStartMs } = counter;
      return { counter: name, posted, pending: counter.tally.pending, windowStartMs };
    }
    const tally = this.#balances.get(name)?.tally;
    if (tally !== undefined) return { counter: name, posted: tally.posted, pending: tally.pending, windowStartMs: 0 };
    const stored = this.#stored.get(name);
    if (stored?.kind === "limit") {
      return { counter: name, posted: stored.amount, pending: 0n, windowStartMs: stored.startMs };
    }
    const inFlight = this.#inFlight.get(name);
    if (inFlight === undefined) return undefined;
    return { counter: name, posted: 0n, pending: BigInt(inFlight.inFlight), windowStartMs: 0 };
  }

  /** Reads both clocks. @returns the wall clock's time; `rules.tickAt` of it is the monotonic one's */
  #now(): number {
    const nowMs = this.#options.now();
    // Whole milliseconds: buckets count in them exactly.
    this.rules.wallAheadMs = nowMs - Math.floor(this.#monotonicNow());
    return nowMs;
  }

  /** Releases reservations that nobody settled or touched in time. @param tickMs by the monotonic clock */
  #expire(tickMs: number): void {
    const { reservationTtlMs } = this.#options;
    this.#nextExpiryMs = tickMs + reservationTtlMs;
    for (const held of this.#open.values()) {
      if (held.touchedAtMs + reservationTtlMs > tickMs) {
        this.#nextExpiryMs = held.touchedAtMs + reservationTtlMs;
        break;
      }
      this.#open.delete(held.id);
      this.counts.expired += 1;
      this.#release(held);
      this.#expired.add(held);
    }
    this.#expired.forgetOld(tickMs - reservationTtlMs);
  }

  /**
   * Forgets counters that matter no more, at most `max` looked at in one call: windows that are over and full
   * buckets, and what counts without end (Lifetime, balances) 30 days after its object was last seen.
   *
   * @param isLive whether the object of a counter exists now
   * @returns the place to continue from, undefined at the end
   */
  *sweep(isLive: (counter: string) => boolean, max: number): Generator<void, void, void> {
    let seen = 0;
    for (const counter of this.#limits.values()) {
      const nowMs = this.#now();
      if (counter.isSpent(nowMs) || this.#isGone(counter, isLive, nowMs)) this.#forget(this.#limits, counter);
      if (++seen % max === 0) yield;
    }
    for (const balance of this.#balances.values()) {
      if (this.#isGone(balance, isLive, this.#now())) this.#forget(this.#balances, balance);
      if (++seen % max === 0) yield;
    }
    for (const stored of this.#stored.values()) {
      const isOld = this.#now() - this.#restoredAtMs >= counterRetentionMs;
      if (isOld && !isLive(stored.name)) {
        this.#stored.delete(stored.name);
        this.#options.journal?.forgotten({ stored });
      }
      if (++seen % max === 0) yield;
    }
    for (const [name, counter] of this.#inFlight) {
      if (counter.inFlight === 0 && counter.expired === 0 && !isLive(name)) {
        this.#inFlight.delete(name);
        this.#claimed.clear();
      }
      if (++seen % max === 0) yield;
    }
  }

  /** Keeps what a durable store read; a limit's sum waits until the limit itself is known. */
  restore(counters: readonly StoredCounter[], expiredReservations: number): void {
    const nowMs = this.#now();
    this.#restoredAtMs = nowMs;
    this.counts.reserved += expiredReservations;
    this.counts.expired += expiredReservations;
    for (const stored of counters) {
      if (stored.kind !== "balance") {
        this.#stored.set(stored.name, stored);
        continue;
      }
      const balance = new BalanceCounter(stored.name, nowMs);
      balance.tally.setPosted(stored.amount);
      balance.stored = stored;
      this.#balances.set(stored.name, balance);
    }
  }

  /** Counters restored and not used since, for a whole batch. */
  unusedCounters(): Iterable<StoredCounter> {
    return this.#stored.values();
  }

  /** Every counter in use, for a whole batch. */
  *counters(): Generator<LimitCounter | BalanceCounter, void, void> {
    yield* this.#limits.values();
    yield* this.#balances.values();
  }

  async close(): Promise<void> {}

  /** The counters that a request claims, brought to the present. */
  #countersOf(request: ReserveRequest, nowMs: number): ClaimedCounters {
    let counters = this.#claimed.get(request);
    if (counters === undefined) {
      counters = this.#findCounters(request, nowMs);
      this.#claimed.set(request, counters);
    }
    let index = 0;
    for (const { limit } of request.limits) {
      const counter = counters.limits[index++];
      if (counter !== undefined && counter.limit !== limit) counter.adopt(limit, nowMs);
      counter?.refresh(nowMs);
    }
    for (const balance of counters.balances) balance.lastUsedMs = nowMs;
    return counters;
  }

  #findCounters(request: ReserveRequest, nowMs: number): ClaimedCounters {
    return {
      limits: request.limits.map(
        ({ counter, limit }) => this.#limits.get(counter) ?? this.#createLimitCounter(counter, limit, nowMs),
      ),
      balances: request.balances.map(({ counter: name }) =>
        found(this.#balances, name, () => new BalanceCounter(name, nowMs)),
      ),
      inFlight: request.concurrency.map(({ counter: name }) =>
        found(this.#inFlight, name, () => ({ inFlight: 0, expired: 0 })),
      ),
    };
  }

  #createLimitCounter(name: string, limit: Limit, nowMs: number): LimitCounter {
    const counter = new LimitCounter(name, limit, this.rules, nowMs);
    this.#limits.set(name, counter);
    const stored = this.#stored.get(name);
    if (stored === undefined) return counter;
    this.#stored.delete(name);
    counter.stored = stored;
    counter.restore(stored, nowMs);
    return counter;
  }

  #allFit(
    request: ReserveRequest,
    amounts: NarrowAmounts,
    limits: readonly LimitCounter[],
    balances: readonly BalanceCounter[],
    inFlight: readonly InFlightCounter[],
  ): boolean {
    let index = 0;
    for (const claim of request.balances) {
      const balance = balances[index++];
      const ceiling = balance?.ceiling(claim.grantedNanos);
      if (ceiling !== undefined && balance?.tally.fits(amounts.costNanos, ceiling) === false) return false;
    }
    index = 0;
    for (const claim of request.concurrency) {
      const counter = inFlight[index++];
      if (counter !== undefined && counter.inFlight >= claim.maxInFlight) return false;
    }
    let shadow: LimitCounter[] | undefined;
    for (const counter of limits) {
      if (counter.fits(amountOf(counter.rule.unit, amounts))) continue;
      if (counter.rule.isEnforced) return false;
      shadow ??= [];
      shadow.push(counter);
    }
    if (shadow !== undefined) this.#reportShadow(shadow);
    return true;
  }

  #reportShadow(counters: readonly LimitCounter[]): void {
    this.counts.shadowRefused += counters.length;
    for (const counter of counters) this.#options.onShadowRefusal?.(counter.name, counter.limit);
  }

  /** Holds again what has expired, whatever is left: its call is running and will use it. */
  #resume(id: string): HeldReservation | undefined {
    const held = this.#expired.take(id);
    if (held === undefined) return undefined;
    held.holdAgain(this.#now());
    this.counts.resumed += 1;
    this.#options.journal?.openChanged();
    return held;
  }

  /** Replaces what a reservation holds by what was consumed. */
  #close(held: HeldReservation, actual: NarrowAmounts): void {
    const nowMs = this.#now();
    const { journal } = this.#options;
    const { amounts } = held;
    held.settleLimits(amounts, actual, nowMs);
    for (const counter of held.limits) {
      if (journal !== undefined && !counter.isChanged) journal.limitChanged(counter);
    }
    for (const balance of held.balances) {
      balance.tally.release(amounts.costNanos);
      balance.tally.post(actual.costNanos);
      if (journal !== undefined && !balance.isChanged) journal.balanceChanged(balance);
    }
    for (const counter of held.inFlight) counter.inFlight -= 1;
    journal?.openChanged();
    if (
      actual.costNanos > amounts.costNanos ||
      actual.inputTokens + actual.outputTokens > amounts.inputTokens + amounts.outputTokens
    ) {
      this.counts.overshot += 1;
      if (actual.costNanos > amounts.costNanos) {
        this.counts.overshotNanos += BigInt(actual.costNanos - amounts.costNanos);
      }
    }
  }

  #release(held: HeldReservation): void {
    this.#close(held, noAmounts);
  }

  #settleClosed(id: string, actual: Amounts): SettleOutcome {
    const expired = this.#expired.take(id);
    if (expired !== undefined) {
      this.#settledIds.add(id);
      this.counts.late += 1;
      this.#postLate(expired, narrowAmounts(actual));
      return "late";
    }
    const outcome = this.#settledIds.has(id) ? "repeated" : "unknown";
    this.counts[outcome] += 1;
    return outcome;
  }

  /** The spend is real although its reservation is gone. */
  #postLate(held: HeldReservation, actual: NarrowAmounts): void {
    const nowMs = this.#now();
    const { journal } = this.#options;
    held.settleLimits(noAmounts, actual, nowMs);
    for (const counter of held.limits) if (!counter.isChanged) journal?.limitChanged(counter);
    for (const balance of held.balances) {
      balance.tally.post(actual.costNanos);
      if (!balance.isChanged) journal?.balanceChanged(balance);
    }
  }

  #isGone(counter: LimitCounter | BalanceCounter, isLive: (name: string) => boolean, nowMs: number): boolean {
    if (counter.isHeld || isLive(counter.name)) {
      counter.lastUsedMs = nowMs;
      return false;
    }
    return nowMs - counter.lastUsedMs >= counterRetentionMs;
  }

  #forget<T extends LimitCounter | BalanceCounter>(counters: Map<string, T>, counter: T): void {
    counters.delete(counter.name);
    counter.isForgotten = true;
    this.#claimed.clear();
    this.#options.journal?.forgotten(counter);
  }
}

function found<T>(counters: Map<string, T>, name: string, create: () => T): T {
  let counter = counters.get(name);
  if (counter === undefined) {
    counter = create();
    counters.set(name, counter);
  }
  return counter;
}
