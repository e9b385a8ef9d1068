/**
 * Defines the ledger: reserve before a call, settle once after it, expire if nobody settles
 * (docs/design/limits-and-money.md 1).
 *
 * It is one interface with several implementations that pass the same model-based tests. A ledger knows nothing of
 * keys, accounts or routes: the caller names counters, and gives with each the limit that holds for it now. All
 * counters of one reservation are reserved together or not at all. Methods return at once or with a promise (a shared
 * store).
 *
 * Amounts are whole numbers as bigint: requests and tokens by count, cost in nano-credits.
 */
import type { Limit } from "#proxy/snapshot/types.gen";
import type { LedgerCounts } from "./count/ledger-counts.ts";

/** What a request is expected to need, or what it needed, by unit of the limits. */
export interface Amounts {
  readonly requests: bigint;
  readonly inputTokens: bigint;
  readonly outputTokens: bigint;
  readonly costNanos: bigint;
}

/** One limit that applies to this request. */
export interface LimitClaim {
  /** Identity of the counter: `key|account|route|channel/namespace/name/limit-name`. It outlives its object. */
  readonly counter: string;
  readonly limit: Limit;
}

/** An account's balance: cumulative credit plus overdraft against cumulative consumption. */
export interface BalanceClaim {
  /** `account/namespace/name` */
  readonly counter: string;
  /** Absent: unlimited, consumption is still counted. */
  readonly grantedNanos: bigint | undefined;
}

export interface ConcurrencyClaim {
  /** `key|channel/namespace/name` */
  readonly counter: string;
  readonly maxInFlight: number;
}

export interface ReserveRequest {
  /** Unique for each attempt to reserve; settling is idempotent by it. */
  readonly id: string;
  readonly amounts: Amounts;
  readonly limits: readonly LimitClaim[];
  readonly balances: readonly BalanceClaim[];
  readonly concurrency: readonly ConcurrencyClaim[];
  /**
   * When the call first asked the ledger, by `performance.now`: all that it asks has one time together. Absent where
   * this is its first question.
   */
  readonly askedSinceMs?: number;
}

/** A limit's numbers after a decision: feeds rate-limit headers and messages. */
export interface LimitState {
  readonly counter: string;
  readonly limit: Limit;
  readonly remaining: bigint;
  /** Milliseconds since the epoch; when the whole limit is available again. Undefined for Lifetime. */
  readonly resetAtMs: number | undefined;
}

export interface Reservation {
  readonly kind: "reserved";
  readonly id: string;
  readonly states: readonly LimitState[];
}

export interface Refusal {
  readonly kind: "refused";
  /** `quota`: Day or longer, unit Cost, or a balance; `rate`: shorter; docs/design/limits-and-money.md 3. */
  readonly reason: "quota" | "rate" | "concurrency" | "balance" | "store-unavailable";
  readonly counter: string;
  readonly limit: Limit | undefined;
  /** Earliest time at which the same request could fit; undefined when waiting cannot cure it. */
  readonly retryAtMs: number | undefined;
  readonly states: readonly LimitState[];
}

/**
 * `settled` first time, `repeated` when this id was settled before, `late` after its expiry (still posted), `deferred`
 * when a shared store cannot be reached (kept, and posted later), `unknown` else.
 */
export type SettleOutcome = "settled" | "repeated" | "late" | "deferred" | "unknown";

export interface CounterReading {
  readonly counter: string;
  readonly posted: bigint;
  readonly pending: bigint;
  /** Start of the window that `posted` counts; 0 for Lifetime and balances. */
  readonly windowStartMs: number;
}

/** At once, or later where the store is another process. */
export type Awaitable<Value> = Value | Promise<Value>;

export interface Ledger {
  reserve(request: ReserveRequest): Awaitable<Reservation | Refusal>;
  /** Posts what was really consumed and frees the rest of the reservation. Zero amounts release it. */
  settle(id: string, actual: Amounts): Awaitable<SettleOutcome>;
  /** Keeps a long-running reservation alive (`reservationTtlMs`). */
  touch(id: string): void;
  /**
   * Current numbers, for status, debugging and metrics. Absent counters have never been used. Rejects where the store
   * cannot tell.
   */
  read(counter: string): Awaitable<CounterReading | undefined>;
  /** Writes what is not yet durable and stops. */
  close(): Promise<void>;
}

/** A ledger as a proxy holds it: with the numbers that metrics show, and the work of every hour. */
export interface OpenLedger extends Ledger {
  /** What happened here since the start. */
  readonly counts: LedgerCounts;
  /** Reservations of this process that are open now. */
  readonly openCount: number;
  /** Of a store that other proxies share; absent where there is none. */
  readonly shared?: { readonly isUsable: boolean; readonly undelivered: number; readonly lost: number };
  /** Forgets counters that no longer matter, at most `max` looked at between two steps (`sweep-counters.ts`). */
  sweep(isLive: (counter: string) => boolean, max: number): Generator<void, void, void>;
}

export const zeroAmounts: Amounts = { requests: 0n, inputTokens: 0n, outputTokens: 0n, costNanos: 0n };
/** What a question takes that generates nothing. */
export const oneRequestAmounts: Amounts = { ...zeroAmounts, requests: 1n };
