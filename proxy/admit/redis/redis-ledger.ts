/**
 * Implements the ledger over Redis or Valkey, for any number of proxies (docs/design/limits-and-money.md 13).
 *
 * Every decision is one run of a Lua script on the store (`redis/ledger-script.ts`), so that all proxies together hold
 * the ceilings of one. What a proxy held when it was killed expires by the store's clock. A decision takes 60 ms at
 * most: a store that does not answer by then, or has lost its history, decides by the failure policy, and what could
 * not be settled in it is settled when it is back (`undelivered/undelivered.ts`).
 */

import { type NarrowAmounts, narrowAmounts, noAmounts } from "#proxy/admit/count/held-reservation";
import { type LedgerCounts, zeroCounts } from "#proxy/admit/count/ledger-counts";
import { LimitRules } from "#proxy/admit/count/limit-counter";
import { refuseClosed } from "#proxy/admit/count/refuse-closed";
import type {
  Amounts,
  Awaitable,
  CounterReading,
  OpenLedger,
  Refusal,
  Reservation,
  ReserveRequest,
  SettleOutcome,
} from "#proxy/admit/ledger";
import type { QuotaFailureMode } from "#proxy/settings";
import type { Limit } from "#proxy/snapshot/types.gen";
import { EpochFile } from "./epoch-file.ts";
import { type Held, HeldReservations } from "./held-reservations.ts";
import { type Claims, LocalCounts, stillCounting } from "./local-counts.ts";
import { type Decision, RefusedCommand, readDecision, readOutcome, readReading, StoreError } from "./script-answers.ts";
import {
  markerMs,
  postCommand,
  readCommand,
  reserveCommand,
  settleCommand,
  shortMarkerMs,
  touchCommand,
} from "./script-arguments.ts";
import { SharedStore, type SharedStoreState } from "./shared-store.ts";
import { problemOf, RedisConnection, type StoreAddress } from "./store-connection.ts";
import { sweepStore } from "./sweep-store.ts";
import { Undelivered } from "./undelivered/undelivered.ts";
import type { UndeliveredEntry } from "./undelivered/undelivered-entry.ts";

export interface RedisLedgerOptions {
  /** This machine's clock, milliseconds since the epoch: for the times that clients are told. */
  readonly now: () => number;
  /** Milliseconds that nobody sets; `performance.now` unless given. */
  readonly monotonicNow?: () => number;
  readonly reservationTtlMs: number;
  readonly address: StoreAddress;
  /** Of all keys; holds the hash tag that keeps them on one shard. */
  readonly prefix: string;
  /** No decision takes longer than this, or 60 ms. */
  readonly decisionTimeoutMs?: number;
  /** For the store's epoch and what could not be delivered; made if absent. */
  readonly folder: string;
  /** Begins from zero where the store has no history, or another one than is known here; once. */
  readonly acceptEmpty?: boolean;
  readonly failureMode?: QuotaFailureMode;
  readonly onShadowRefusal?: (counter: string, limit: Limit) => void;
  readonly onStoreState?: (state: SharedStoreState) => void;
  /** Told what people should know of beside that; at most once a second. */
  readonly onProblem?: (message: string) => void;
  /** Of this process, among those that use the folder. */
  readonly name: string;
  /** The script's text; the ledger's own unless given. */
  readonly script?: string;
  /** How often a store in use is looked at; 10,000 ms unless given. */
  readonly watchEveryMs?: number;
}

/** A window may end while the question is on its way; the second answer is nearly always the last. */
const triesMax = 3;
const decisionTimeoutMs = 60;
/** Timers are late by a millisecond or two. */
const marginMs = 3;
/** Of reservations in one command: a script holds up all others while it runs. */
const touchedMax = 500;
/** Older entries are not sent: each is known to the store for a day longer (`markerMs`). */
const entryMs = markerMs - 86_400_000;
/** How long a start waits to know what the store is like. */
const openMs = 3_000;

export class RedisLedger implements OpenLedger {
  readonly counts: LedgerCounts = zeroCounts();
  readonly #options: RedisLedgerOptions;
  readonly #rules = new LimitRules();
  readonly #store: SharedStore;
  readonly #open: HeldReservations;
  /** What was admitted while the store was away. */
  readonly #local: LocalCounts;
  readonly #undelivered: Undelivered;
  /** How long an answer is waited for, and a decision with its retries takes at most. */
  readonly #answerMs: number;
  #touched: string[] = [];
  #problemAtMs = Number.NEGATIVE_INFINITY;

  /**
   * Opens the store. One that cannot be reached, or has lost its history, opens all the same and decides by the failure
   * policy until that is over.
   *
   * @throws Error where the store is set up to forget counters, or the folder cannot be used
   */
  static async open(options: RedisLedgerOptions): Promise<RedisLedger> {
    let known: () => void = () => undefined;
    const isKnown = new Promise<void>((resolve) => (known = resolve));
    const ledger = new RedisLedger(options, () => known());
    const timer = setTimeout(known, openMs);
    await isKnown;
    clearTimeout(timer);
    const { kind, message } = ledger.storeState;
    if (kind !== "unsafe") return ledger;
    await ledger.close();
    throw new Error(message);
  }

  private constructor(options: RedisLedgerOptions, onKnown: () => void) {
    this.#options = options;
    this.#open = new HeldReservations(
      options.monotonicNow ?? (() => performance.now()),
      options.reservationTtlMs,
      this.counts,
    );
    this.#answerMs = (options.decisionTimeoutMs ?? decisionTimeoutMs) - marginMs;
    const { address, prefix, reservationTtlMs, folder, script } = options;
    this.#store = new SharedStore({
      connect: (events) => new RedisConnection(address, events),
      prefix,
      reservationTtlMs,
      answerMs: this.#answerMs,
      watchEveryMs: options.watchEveryMs,
      epoch: new EpochFile(folder, options.acceptEmpty ?? false),
      ...(script !== undefined && { script }),
      onSideEffects: ({ expired, resumed, broken }) => {
        this.counts.expired += expired;
        this.counts.resumed += resumed;
        this.counts.broken += broken;
        if (broken > 0)
          this.#tell("the store holds counters that are none any more: what was used is not counted there");
      },
      onWarning: (message) => options.onProblem?.(message),
      onState: (state) => {
        options.onStoreState?.(state);
        if (state.kind === "usable") void this.#undelivered.deliver();
        onKnown();
      },
    });
    const { now, monotonicNow, onShadowRefusal } = options;
    this.#local = new LocalCounts({
      now,
      reservationTtlMs,
      ...(monotonicNow !== undefined && { monotonicNow }),
      ...(onShadowRefusal !== undefined && { onShadowRefusal }),
    });
    this.#undelivered = new Undelivered({
      folder,
      name: options.name,
      now: () => this.#store.nowMs,
      deliver: (entry) => this.#deliver(entry),
      isOver: ({ claims, atMs }) =>
        claims !== undefined && claimsNothing(stillCounting(claims, this.#rules, atMs, this.#store.nowMs)),
      onProblem: (message) => this.#tell(message),
    });
  }

  get storeState(): SharedStoreState {
    return this.#store.state;
  }

  get openCount(): number {
    return this.#open.countOpen() + this.#local.openCount;
  }

  /** Settlements that the store has not been told of yet. */
  get undeliveredCount(): number {
    return this.#undelivered.size;
  }

  get shared(): NonNullable<OpenLedger["shared"]> {
    const { size, lostCount } = this.#undelivered;
    return { isUsable: this.#store.isUsable, undelivered: size, lost: lostCount };
  }

  reserve(request: ReserveRequest): Awaitable<Reservation | Refusal> {
    if (claimsNothing(request) && request.concurrency.length === 0) return this.#reserveUnlimited(request);
    return this.#store.isUsable ? this.#reserve(request) : this.#withoutStore(request);
  }

  settle(id: string, actual: Amounts): Awaitable<SettleOutcome> {
    const used = narrowAmounts(actual);
    const claims = this.#local.settle(id, actual);
    if (claims !== undefined) {
      this.counts.settled += 1;
      if (claimsNothing(claims)) return "settled";
      return this.#defer({ id: `${id}~`, atMs: this.#store.nowMs, used, claims });
    }
    const held = this.#open.take(id);
    if (held !== undefined) this.#countOvershoot(held.amounts, used);
    const unlimited = this.#open.settleUnlimited(id, held);
    if (unlimited !== undefined) {
      this.counts[unlimited] += 1;
      return unlimited;
    }
    return this.#store.isUsable ? this.#settle(id, used, held) : this.#deferSettlement(id, used, held);
  }

  touch(id: string): void {
    const held = this.#open.touch(id);
    if (held === undefined) {
      this.#local.touch(id);
      return;
    }
    if (held.heldIn !== undefined && this.#touched.push(id) === 1) process.nextTick(() => this.#sendTouched());
  }

  async read(counter: string): Promise<CounterReading | undefined> {
    this.#open.countOpen();
    if (!this.#store.isUsable) throw new StoreError(this.#store.state.message);
    const { answer, storeMs } = await this.#store.submit(readCommand(counter));
    return readReading(answer, counter, storeMs);
  }

  /** The store forgets windows that are over by itself; what counts without end is marked there meanwhile. */
  *sweep(isLive: (counter: string) => boolean, max: number): Generator<void, void, void> {
    if (this.#store.isUsable) sweepStore(this.#store, isLive).catch((error) => this.#tell(problemOf(error)));
    yield* this.#local.sweep(isLive, max);
  }

  async close(): Promise<void> {
    if (this.#store.isUsable && this.#undelivered.size > 0) await this.#undelivered.deliver();
    await this.#undelivered.close();
    await this.#store.close();
  }

  /** Nothing to ask: a call without any limit waits for no store. */
  #reserveUnlimited({ id, amounts }: ReserveRequest): Reservation {
    const known = this.#open.get(id);
    if (known !== undefined) return known.reservation;
    const reservation: Reservation = { kind: "reserved", id, states: [] };
    this.#open.add({ reservation, amounts: narrowAmounts(amounts), atMs: this.#store.nowMs });
    this.counts.reserved += 1;
    return reservation;
  }

  #sendTouched(): void {
    const ids = this.#touched;
    this.#touched = [];
    if (!this.#store.isUsable) return;
    for (let at = 0; at < ids.length; at += touchedMax)
      this.#store.submit(touchCommand(ids.slice(at, at + touchedMax))).catch(() => undefined);
  }

  async #reserve(request: ReserveRequest): Promise<Reservation | Refusal> {
    const amounts = narrowAmounts(request.amounts);
    const byMs = (request.askedSinceMs ?? performance.now()) + this.#answerMs;
    // The time is used up, by a question that came before.
    if (byMs - performance.now() < 1) return this.#withoutStore(request);
    let decision: Decision | undefined;
    try {
      decision = await this.#decide(request, amounts, byMs);
    } catch (error) {
      this.#tell(problemOf(error));
      // It may be held there although we do not know it.
      this.#deferSettlement(request.id, noAmounts, undefined);
      return this.#withoutStore(request);
    }
    const { result, isKnown, shadowed } = decision;
    if (result.kind === "refused") {
      this.counts.refused += 1;
      return result;
    }
    if (isKnown) return this.#open.get(request.id)?.reservation ?? result;
    this.counts.reserved += 1;
    const heldIn = { limits: request.limits, balances: request.balances };
    this.#open.add({ reservation: result, amounts, heldIn, atMs: this.#store.nowMs });
    this.counts.shadowRefused += shadowed.length;
    for (const { counter, limit } of shadowed) this.#options.onShadowRefusal?.(counter, limit);
    return result;
  }

  /** @param byMs of `performance.now`. @throws StoreError where the store did not decide in time */
  async #decide(request: ReserveRequest, amounts: NarrowAmounts, byMs: number): Promise<Decision> {
    for (let tries = 1; ; tries += 1) {
      const command = reserveCommand(request, amounts, this.#rules, this.#store.nowMs);
      const hasAllTime = tries === 1 && request.askedSinceMs === undefined;
      const withinMs = hasAllTime ? undefined : byMs - performance.now();
      const { answer, storeMs } = await this.#store.submit(command, withinMs);
      const clocks = { storeMs, localMs: this.#options.now() };
      const decision = readDecision(answer, request, amounts, this.#rules, clocks);
      if (decision !== undefined) return decision;
      if (tries === triesMax || byMs - performance.now() < 1)
        throw new StoreError("the store's clock left the window that it was asked about");
    }
  }

  async #settle(id: string, used: NarrowAmounts, held: Held | undefined): Promise<SettleOutcome> {
    const sentAtMs = this.#store.nowMs;
    try {
      const { answer } = await this.#store.submit(settleCommand(id, used, shortMarkerMs));
      const outcome = readOutcome(answer);
      if (outcome === "unknown" && held?.heldIn !== undefined)
        return this.#countForgotten(id, used, held.heldIn, held.atMs);
      this.counts[outcome] += 1;
      return outcome;
    } catch (error) {
      this.#tell(problemOf(error));
      return this.#deferSettlement(id, used, held, sentAtMs);
    }
  }

  /** The store has lost a reservation, as one does that takes over from another: what it used is counted all the same. */
  #countForgotten(id: string, used: NarrowAmounts, claims: Claims, atMs: number): "deferred" {
    this.counts.forgotten += 1;
    return this.#defer({ id: `${id}~`, atMs, used, claims });
  }

  /** @param sentAtMs present where the store was told already, and may have heard it */
  #deferSettlement(id: string, used: NarrowAmounts, held: Held | undefined, sentAtMs?: number): "deferred" {
    const atMs = held?.atMs ?? this.#store.nowMs;
    return this.#defer({ id, atMs, used, claims: undefined, heldIn: held?.heldIn, sentAtMs });
  }

  #defer(entry: UndeliveredEntry): "deferred" {
    this.#undelivered.add(entry);
    return "deferred";
  }

  /** @returns whether the store has been told. Rejects where it gave no answer */
  async #deliver({ id, atMs, used, claims, heldIn, sentAtMs }: UndeliveredEntry): Promise<boolean> {
    if (!this.#store.isUsable) return false;
    const { nowMs } = this.#store;
    if (nowMs - atMs > entryMs) throw new RefusedCommand("the store may have forgotten whether it knows it");
    if (claims === undefined) {
      const { answer } = await this.#store.submit(settleCommand(id, used, markerMs));
      const outcome = readOutcome(answer);
      // Nothing was held by what failed before it got there, and nothing is counted for it.
      if (outcome === "settled" || outcome === "late") this.counts[outcome] += 1;
      // One that was sent long ago may have been counted: the store has forgotten by now which it knew.
      const isDoubtful = sentAtMs !== undefined && nowMs - sentAtMs >= shortMarkerMs;
      if (outcome === "unknown" && heldIn !== undefined && !isDoubtful) this.#countForgotten(id, used, heldIn, atMs);
      else if (outcome === "unknown" && heldIn !== undefined) this.counts.unknown += 1;
      return true;
    }
    const counting = stillCounting(claims, this.#rules, atMs, nowMs);
    const { answer } = await this.#store.submit(postCommand(id, counting, used, this.#rules, nowMs));
    // A window that ended on the way: next time it is left out.
    if (answer === "moved") return false;
    readOutcome(answer);
    return true;
  }

  /** The failure policy: refused, or counted here alone. */
  #withoutStore(request: ReserveRequest): Reservation | Refusal {
    const { failureMode = "BalancesClosed", now } = this.#options;
    const result = refuseClosed(request, failureMode, this.#rules, now()) ?? this.#local.reserve(request);
    this.counts[result.kind] += 1;
    return result;
  }

  #tell(message: string): void {
    const nowMs = performance.now();
    if (nowMs - this.#problemAtMs < 1_000) return;
    this.#problemAtMs = nowMs;
    this.#options.onProblem?.(message);
  }

  #countOvershoot(held: NarrowAmounts, used: NarrowAmounts): void {
    const isMore = used.inputTokens + used.outputTokens > held.inputTokens + held.outputTokens;
    if (!isMore && used.costNanos <= held.costNanos) return;
    this.counts.overshot += 1;
    if (used.costNanos > held.costNanos) this.counts.overshotNanos += BigInt(used.costNanos - held.costNanos);
  }
}

/** Calls in flight end with the call, and are nothing to tell afterwards. */
function claimsNothing({ limits, balances }: Pick<ReserveRequest, "limits" | "balances">): boolean {
  return limits.length === 0 && balances.length === 0;
}
