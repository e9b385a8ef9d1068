/**
 * A ledger so plain that it can be read at a glance: the judge of the real ones in model-based tests.
 *
 * Sums over the list of everything ever reserved, nothing incremental. It knows fixed windows aligned to the epoch,
 * Lifetime, balances and concurrency; the token bucket and the calendar have tests of their own.
 */
import type { Amounts, ReserveRequest, SettleOutcome } from "#proxy/admit/ledger";
import type { Limit } from "#proxy/snapshot/types.gen";

interface Entry {
  readonly request: ReserveRequest;
  readonly atMs: number;
  touchedAtMs: number;
  state: "open" | "expired" | "settled";
  actual: Amounts | undefined;
}

const periodMs: Partial<Record<Limit["period"], number>> = { Second: 1_000, Minute: 60_000, Hour: 3_600_000 };

export class LedgerModel {
  readonly #entries = new Map<string, Entry>();
  readonly #ttlMs: number;

  constructor(ttlMs: number) {
    this.#ttlMs = ttlMs;
  }

  expire(nowMs: number): void {
    for (const entry of this.#entries.values()) {
      if (entry.state === "open" && entry.touchedAtMs + this.#ttlMs <= nowMs) entry.state = "expired";
    }
  }

  /** Whether the request is admitted. */
  reserve(request: ReserveRequest, nowMs: number): boolean {
    this.expire(nowMs);
    for (const { counter, limit } of request.limits) {
      const length = periodMs[limit.period] ?? Number.POSITIVE_INFINITY;
      const startMs = length === Number.POSITIVE_INFINITY ? 0 : nowMs - (nowMs % length);
      const used = this.sum(counter, startMs, (amounts) => pick(amounts, limit.unit));
      const total = used.posted + used.pending + pick(request.amounts, limit.unit);
      if (limit.mode === "Enforce" && total > BigInt(limit.limit)) return false;
    }
    for (const { counter, grantedNanos } of request.balances) {
      const used = this.sum(counter, 0, (amounts) => amounts.costNanos);
      const total = used.posted + used.pending + request.amounts.costNanos;
      if (grantedNanos !== undefined && total > grantedNanos) return false;
    }
    for (const { counter, maxInFlight } of request.concurrency) {
      if (this.inFlight(counter) >= maxInFlight) return false;
    }
    this.#entries.set(request.id, { request, atMs: nowMs, touchedAtMs: nowMs, state: "open", actual: undefined });
    return true;
  }

  settle(id: string, actual: Amounts): SettleOutcome {
    const entry = this.#entries.get(id);
    if (entry === undefined) return "unknown";
    if (entry.state === "settled") return "repeated";
    const outcome = entry.state === "open" ? "settled" : "late";
    entry.state = "settled";
    entry.actual = actual;
    return outcome;
  }

  touch(id: string, nowMs: number): void {
    const entry = this.#entries.get(id);
    if (entry?.state === "open") entry.touchedAtMs = nowMs;
  }

  sum(counter: string, startMs: number, amount: (amounts: Amounts) => bigint): { posted: bigint; pending: bigint } {
    let posted = 0n;
    let pending = 0n;
    for (const { request, atMs, state, actual } of this.#entries.values()) {
      if (atMs < startMs || ![...request.limits, ...request.balances].some((claim) => claim.counter === counter))
        continue;
      if (state === "open") pending += amount(request.amounts);
      if (actual !== undefined) posted += amount(actual);
    }
    return { posted, pending };
  }

  inFlight(counter: string): number {
    return [...this.#entries.values()].filter(
      ({ request, state }) => state === "open" && request.concurrency.some((claim) => claim.counter === counter),
    ).length;
  }
}

export function pick(amounts: Amounts, unit: Limit["unit"]): bigint {
  if (unit === "Requests") return amounts.requests;
  if (unit === "InputTokens") return amounts.inputTokens;
  if (unit === "OutputTokens") return amounts.outputTokens;
  return unit === "Cost" ? amounts.costNanos : amounts.inputTokens + amounts.outputTokens;
}
