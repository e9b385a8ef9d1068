/**
 * Counts in this process alone what is admitted while the shared store is away, and tells afterwards what of it still
 * counts there (docs/design/limits-and-money.md 13).
 */
import type { LimitRules } from "#proxy/admit/count/limit-counter";
import type { Amounts, LimitClaim, Refusal, Reservation, ReserveRequest } from "#proxy/admit/ledger";
import { MemoryLedger, type MemoryLedgerOptions } from "#proxy/admit/memory-ledger";
import { windowBounds } from "#proxy/admit/window";
import { TransientMap } from "#proxy/runtime/transient-map";

/** What was used counts in these; calls in flight end by themselves. */
export type Claims = Pick<ReserveRequest, "limits" | "balances">;

export class LocalCounts {
  readonly #memory: MemoryLedger;
  readonly #open = new TransientMap<string, Claims>();

  constructor(options: MemoryLedgerOptions) {
    this.#memory = new MemoryLedger(options);
  }

  get openCount(): number {
    return this.#memory.openCount;
  }

  reserve(request: ReserveRequest): Reservation | Refusal {
    const result = this.#memory.reserve(request);
    if (result.kind === "reserved") this.#open.set(request.id, request);
    return result;
  }

  sweep(isLive: (counter: string) => boolean, max: number): Generator<void, void, void> {
    return this.#memory.sweep(isLive, max);
  }

  touch(id: string): void {
    this.#memory.touch(id);
  }

  /** @returns the claims to tell the store of; undefined where nothing was reserved here by this id */
  settle(id: string, actual: Amounts): Claims | undefined {
    const claims = this.#open.get(id);
    if (claims === undefined) return undefined;
    this.#open.delete(id);
    this.#memory.settle(id, actual);
    return claims;
  }
}

/** The claims in which something used at `atMs` still counts at `nowMs`; balances count for ever. */
export function stillCounting({ limits, balances }: Claims, rules: LimitRules, atMs: number, nowMs: number): Claims {
  return { limits: limits.filter((claim) => isStillCounting(claim, rules, atMs, nowMs)), balances };
}

function isStillCounting({ limit }: LimitClaim, rules: LimitRules, atMs: number, nowMs: number): boolean {
  const { bucket } = rules.ruleFor(limit);
  if (bucket !== undefined) return nowMs - atMs < bucket.periodMs;
  return windowBounds(limit.period, limit.timeZone ?? "UTC", atMs).endMs > nowMs;
}
