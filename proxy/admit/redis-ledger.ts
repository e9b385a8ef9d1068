/**
 * Implements the ledger over Redis or Valkey, for any number of proxies (docs/design/limits-and-money.md 13).
 *
 * Every decision is one run of a Lua script on the store (`redis/ledger-script.ts`), so that all proxies together hold
 * the ceilings of one. What a proxy held when it was killed expires by the store's clock. A decision takes 60 ms at
 * most: a store that does not answer by then, or has lost its history, decides by the failure policy, and what could
 * not be settled in it is settled when it is back (`redis/undelivered.ts`).
 */
import { TransientMap } from "#proxy/runtime/transient-map";
import type { QuotaFailureMode } from "#proxy/settings";
import type { Limit } from "#proxy/snapshot/types.gen";
import { type NarrowAmounts, narrowAmounts, noAmounts } from "./count/held-reservation.ts";
import { type LedgerCounts, zeroCounts } from "./count/ledger-counts.ts";
import { LimitRules } from "./count/limit-counter.ts";
import { refuseClosed } from "./count/refuse-closed.ts";
import type {
  Amounts,
  Awaitable,
  CounterReading,
  OpenLedger,
  Refusal,
  Reservation,
  ReserveRequest,
  SettleOutcome,
} from "./ledger.ts";
import { EpochFile } from "./redis/epoch-file.ts";
import { LocalCounts, stillCounting } from "./redis/local-counts.ts";
import { type Decision, readDecision, readOutcome, readReading, StoreError } from "./redis/script-answers.ts";
import { postCommand, readCommand, reserveCommand, settleCommand, touchCommand } from "./redis/script-arguments.ts";
import { SharedStore, type SharedStoreState } from "./redis/shared-store.ts";
import { problemOf, RedisConnection, type StoreAddress } from "./redis/store-connection.ts";
import { Undelivered } from "./redis/undelivered.ts";
import type { UndeliveredEntry } from "./redis/undelivered-entry.ts";

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
}

/** What this process holds in the store. */
interface Held {
  readonly reservation: Reservation;
  readonly amounts: NarrowAmounts;
  /** By the monotonic clock. */
  touchedAtMs: number;
}

/** A window may end while the question is on its way; the second answer is nearly always the last. */
const triesMax = 3;
const decisionTimeoutMs = 60;
/** A retry starts only this early, so that both together stay within the time. */
const retryWithinMs = 5;
/** How long a start waits to know what the store is like. */
const openMs = 3_000;

export class RedisLedger implements OpenLedger {
  readonly counts: LedgerCounts = zeroCounts();
  readonly #options: RedisLedgerOptions;
  readonly #rules = new LimitRules();
  readonly #store: SharedStore;
  readonly #monotonicNow: () => number;
  /** Least recently touched first. */
  readonly #open = new TransientMap<string, Held>();
  /** What was admitted while the store was away. */
  readonly #local: LocalCounts;
  readonly #undelivered: Undelivered;
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
    this.#monotonicNow = options.monotonicNow ?? (() => performance.now());
    const { address, prefix, reservationTtlMs, folder, script } = options;
    this.#store = new SharedStore({
      connect: (events) => new RedisConnection(address, events),
      prefix,
      reservationTtlMs,
      answerMs: (options.decisionTimeoutMs ?? decisionTimeoutMs) - retryWithinMs - 1,
      epoch: new EpochFile(folder),
      acceptEmpty: options.acceptEmpty ?? false,
      ...(script !== undefined && { script }),
      onExpired: (count) => (this.counts.expired += count),
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
      deliver: (entry) => this.#deliver(entry),
      onProblem: (message) => this.#tell(message),
    });
  }

  get storeState(): SharedStoreState {
    return this.#store.state;
  }

  get openCount(): number {
    this.#forgetExpired();
    return this.#open.size + this.#local.openCount;
  }

  /** Settlements that the store has not been told of yet. */
  get undeliveredCount(): number {
    return this.#undelivered.size;
  }

  reserve(request: ReserveRequest): Awaitable<Reservation | Refusal> {
    return this.#store.isUsable ? this.#reserve(request) : this.#withoutStore(request);
  }

  settle(id: string, actual: Amounts): Awaitable<SettleOutcome> {
    const used = narrowAmounts(actual);
    const claims = this.#local.settle(id, actual);
    if (claims !== undefined) {
      this.counts.settled += 1;
      return this.#defer({ id: `${id}~`, atMs: this.#store.nowMs, used, claims });
    }
    const held = this.#open.get(id);
    this.#open.delete(id);
    if (held !== undefined) this.#countOvershoot(held.amounts, used);
    return this.#store.isUsable ? this.#settle(id, used) : this.#deferSettlement(id, used);
  }

  touch(id: string): void {
    const held = this.#open.get(id);
    if (held === undefined) {
      this.#local.touch(id);
      return;
    }
    held.touchedAtMs = this.#monotonicNow();
    this.#open.delete(id);
    this.#open.set(id, held);
    if (this.#store.isUsable) this.#store.submit(touchCommand(id)).catch(() => undefined);
  }

  async read(counter: string): Promise<CounterReading | undefined> {
    if (!this.#store.isUsable) throw new StoreError(this.#store.state.message);
    const { answer, storeMs } = await this.#store.submit(readCommand(counter));
    return readReading(answer, counter, storeMs);
  }

  /** Nothing to do here: the store forgets windows that are over by itself, and keeps what counts without end. */
  *sweep(): Generator<void, void, void> {}

  async close(): Promise<void> {
    if (this.#store.isUsable && this.#undelivered.size > 0) await this.#undelivered.deliver();
    await this.#undelivered.close();
    await this.#store.close();
  }

  async #reserve(request: ReserveRequest): Promise<Reservation | Refusal> {
    const amounts = narrowAmounts(request.amounts);
    let decision: Decision | undefined;
    try {
      decision = await this.#decide(request, amounts);
    } catch (error) {
      this.#tell(problemOf(error));
      // It may be held there although we do not know it.
      this.#deferSettlement(request.id, noAmounts);
      return this.#withoutStore(request);
    }
    const { result, isKnown, shadowed } = decision;
    if (result.kind === "refused") {
      this.counts.refused += 1;
      return result;
    }
    if (isKnown) return this.#open.get(request.id)?.reservation ?? result;
    this.counts.reserved += 1;
    this.#open.set(request.id, { reservation: result, amounts, touchedAtMs: this.#monotonicNow() });
    this.counts.shadowRefused += shadowed.length;
    for (const { counter, limit } of shadowed) this.#options.onShadowRefusal?.(counter, limit);
    return result;
  }

  /** @throws StoreError where the store did not decide in time */
  async #decide(request: ReserveRequest, amounts: NarrowAmounts): Promise<Decision> {
    const startedMs = performance.now();
    for (let tries = 1; ; tries += 1) {
      const command = reserveCommand(request, amounts, this.#rules, this.#store.nowMs);
      const { answer, storeMs } = await this.#store.submit(command);
      const clocks = { storeMs, localMs: this.#options.now() };
      const decision = readDecision(answer, request, amounts, this.#rules, clocks);
      if (decision !== undefined) return decision;
      if (tries === triesMax || performance.now() - startedMs > retryWithinMs)
        throw new StoreError("the store's clock left the window that it was asked about");
    }
  }

  async #settle(id: string, used: NarrowAmounts): Promise<SettleOutcome> {
    try {
      const { answer } = await this.#store.submit(settleCommand(id, used));
      const outcome = readOutcome(answer);
      this.counts[outcome] += 1;
      return outcome;
    } catch (error) {
      this.#tell(problemOf(error));
      return this.#deferSettlement(id, used);
    }
  }

  #deferSettlement(id: string, used: NarrowAmounts): "deferred" {
    return this.#defer({ id, atMs: this.#store.nowMs, used, claims: undefined });
  }

  #defer(entry: UndeliveredEntry): "deferred" {
    this.#undelivered.add(entry);
    return "deferred";
  }

  /** @returns whether the store has been told. Rejects where it gave no answer */
  async #deliver({ id, atMs, used, claims }: UndeliveredEntry): Promise<boolean> {
    if (!this.#store.isUsable) return false;
    if (claims === undefined) {
      const { answer } = await this.#store.submit(settleCommand(id, used));
      const outcome = readOutcome(answer);
      // Nothing was held by what failed before it got there, and nothing is counted for it.
      if (outcome === "settled" || outcome === "late") this.counts[outcome] += 1;
      return true;
    }
    const { nowMs } = this.#store;
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

  /** What was lost without being settled or touched has expired in the store. */
  #forgetExpired(): void {
    const oldestMs = this.#monotonicNow() - this.#options.reservationTtlMs;
    for (const id of this.#open.keys()) {
      const held = this.#open.get(id);
      if (held === undefined || held.touchedAtMs > oldestMs) return;
      this.#open.delete(id);
    }
  }
}
