/**
 * A ledger so plain that it can be read at a glance: the judge of the real ones in model-based tests.
 *
 * Windows, balances and calls in flight are sums over the list of everything ever reserved, nothing incremental. A token
 * bucket is one exact fraction, in tokens x milliseconds of its period. The calendar has tests of its own.
 */
import type { Amounts, LimitClaim, ReserveRequest, SettleOutcome } from "#proxy/admit/ledger";
import { fixedPeriodMs, isRatePeriod, windowBounds } from "#proxy/admit/window";
import type { Limit } from "#proxy/snapshot/types.gen";

interface Entry {
  readonly request: ReserveRequest;
  readonly atMs: number;
  touchedAtMs: number;
  state: "open" | "expired" | "settled";
  actual: Amounts | undefined;
}

interface Bucket {
  limit: Limit;
  /** Tokens x `periodMs`; below zero: debt. */
  level: bigint;
  atMs: number;
}

/** What a counter shows: of a bucket, what is missing from it beside reservations. */
export interface Sums {
  readonly posted: bigint;
  readonly pending: bigint;
}

export class LedgerModel {
  readonly #entries = new Map<string, Entry>();
  readonly #buckets = new Map<string, Bucket>();
  readonly #ttlMs: number;

  constructor(ttlMs: number) {
    this.#ttlMs = ttlMs;
  }

  isOpen(id: string): boolean {
    return this.#entries.get(id)?.state === "open";
  }

  expire(nowMs: number): void {
    for (const entry of this.#entries.values()) {
      if (entry.state !== "open" || entry.touchedAtMs + this.#ttlMs > nowMs) continue;
      entry.state = "expired";
      this.#giveBack(entry.request, zero, nowMs);
    }
  }

  /** Whether the request is admitted. */
  reserve(request: ReserveRequest, nowMs: number): boolean {
    this.expire(nowMs);
    if (this.isOpen(request.id)) return true;
    for (const claim of request.limits) if (isBucket(claim.limit)) this.#adopt(claim, nowMs);
    for (const { counter, limit } of request.limits) {
      const amount = pick(request.amounts, limit.unit);
      if (limit.mode === "Enforce" && amount > this.#left(counter, limit, nowMs)) return false;
    }
    for (const { counter, grantedNanos } of request.balances) {
      const { posted, pending } = this.#sum(counter, 0, "Cost");
      const total = posted + pending + request.amounts.costNanos;
      if (grantedNanos !== undefined && total > grantedNanos) return false;
    }
    for (const { counter, maxInFlight } of request.concurrency) {
      if (this.inFlight(counter) >= maxInFlight) return false;
    }
    for (const { counter, limit } of request.limits) {
      const bucket = this.#buckets.get(counter);
      if (bucket !== undefined) bucket.level -= pick(request.amounts, limit.unit) * periodOf(limit);
    }
    this.#entries.set(request.id, { request, atMs: nowMs, touchedAtMs: nowMs, state: "open", actual: undefined });
    return true;
  }

  settle(id: string, actual: Amounts, nowMs: number): SettleOutcome {
    this.expire(nowMs);
    const entry = this.#entries.get(id);
    if (entry === undefined) return "unknown";
    if (entry.state === "settled") return "repeated";
    const isOpen = entry.state === "open";
    if (isOpen) this.#giveBack(entry.request, actual, nowMs);
    else this.#giveBack({ ...entry.request, amounts: zero }, actual, nowMs);
    entry.state = "settled";
    entry.actual = actual;
    return isOpen ? "settled" : "late";
  }

  touch(id: string, nowMs: number): void {
    this.expire(nowMs);
    const entry = this.#entries.get(id);
    if (entry === undefined || entry.state === "settled") return;
    // Its call is running: it holds again, whatever is left.
    if (entry.state === "expired") this.#giveBack({ ...entry.request, amounts: zero }, entry.request.amounts, nowMs);
    entry.state = "open";
    entry.touchedAtMs = nowMs;
  }

  /** What the counter of this limit shows. */
  sums(counter: string, limit: Limit, nowMs: number): Sums {
    this.expire(nowMs);
    const bucket = this.#buckets.get(counter);
    if (!isBucket(limit)) return this.#sum(counter, startOf(limit, nowMs), limit.unit);
    const { pending } = this.#sum(counter, 0, limit.unit);
    if (bucket === undefined) return { posted: 0n, pending };
    this.#fill(bucket, nowMs);
    const missing = burstOf(bucket.limit) - floor(bucket.level, periodOf(bucket.limit)) - pending;
    return { posted: missing > 0n ? missing : 0n, pending };
  }

  balance(counter: string): Sums {
    return this.#sum(counter, 0, "Cost");
  }

  inFlight(counter: string): number {
    return [...this.#entries.values()].filter(
      ({ request, state }) => state === "open" && request.concurrency.some((claim) => claim.counter === counter),
    ).length;
  }

  #sum(counter: string, startMs: number, unit: Limit["unit"]): Sums {
    let posted = 0n;
    let pending = 0n;
    for (const { request, atMs, state, actual } of this.#entries.values()) {
      if (atMs < startMs || ![...request.limits, ...request.balances].some((claim) => claim.counter === counter))
        continue;
      if (state === "open") pending += pick(request.amounts, unit);
      if (actual !== undefined) posted += pick(actual, unit);
    }
    return { posted, pending };
  }

  #left(counter: string, limit: Limit, nowMs: number): bigint {
    const bucket = this.#buckets.get(counter);
    if (bucket !== undefined) return floor(bucket.level, periodOf(limit));
    const { posted, pending } = this.#sum(counter, startOf(limit, nowMs), limit.unit);
    return BigInt(limit.limit) - posted - pending;
  }

  #adopt({ counter, limit }: LimitClaim, nowMs: number): void {
    const bucket = this.#buckets.get(counter) ?? { limit, level: burstOf(limit) * periodOf(limit), atMs: nowMs };
    this.#buckets.set(counter, bucket);
    this.#fill(bucket, nowMs);
    bucket.limit = limit;
    this.#fill(bucket, nowMs);
  }

  #fill(bucket: Bucket, nowMs: number): void {
    const full = burstOf(bucket.limit) * periodOf(bucket.limit);
    const filled = bucket.level + BigInt(nowMs - bucket.atMs) * BigInt(bucket.limit.limit);
    bucket.level = filled > full ? full : filled;
    bucket.atMs = nowMs;
  }

  /** Replaces in its buckets what a request holds by what was used. */
  #giveBack({ amounts, limits }: ReserveRequest, actual: Amounts, nowMs: number): void {
    for (const { counter, limit } of limits) {
      const bucket = this.#buckets.get(counter);
      if (bucket === undefined) continue;
      this.#fill(bucket, nowMs);
      bucket.level += (pick(amounts, limit.unit) - pick(actual, limit.unit)) * periodOf(limit);
      this.#fill(bucket, nowMs);
    }
  }
}

const zero: Amounts = { requests: 0n, inputTokens: 0n, outputTokens: 0n, costNanos: 0n };

function isBucket({ algorithm }: Limit): boolean {
  return algorithm === "TokenBucket";
}

function periodOf({ period }: Limit): bigint {
  return isRatePeriod(period) ? BigInt(fixedPeriodMs[period]) : 1n;
}

function burstOf({ burst, limit }: Limit): bigint {
  return BigInt(burst ?? limit);
}

function floor(level: bigint, period: bigint): bigint {
  const whole = level / period;
  return level < 0n && level % period !== 0n ? whole - 1n : whole;
}

function startOf({ period, timeZone = "UTC" }: Limit, nowMs: number): number {
  return windowBounds(period, timeZone, nowMs).startMs;
}

export function pick(amounts: Amounts, unit: Limit["unit"]): bigint {
  if (unit === "Requests") return amounts.requests;
  if (unit === "InputTokens") return amounts.inputTokens;
  if (unit === "OutputTokens") return amounts.outputTokens;
  return unit === "Cost" ? amounts.costNanos : amounts.inputTokens + amounts.outputTokens;
}
