/**
 * Caches the counters of a request's claims: `claims.ts` returns the same arrays for every call of a key on a route,
 * so that most calls look up one object instead of each name.
 *
 * Invariant: the cache agrees with the ledger's maps; code that removes a counter from them calls `clear`.
 */
import type { ReserveRequest } from "#proxy/admit/ledger";
import type { InFlightCounter } from "./held-reservation.ts";
import type { BalanceCounter, LimitCounter } from "./limit-counter.ts";

/** Counters in the order of the claims. */
export interface ClaimedCounters {
  readonly limits: readonly LimitCounter[];
  readonly balances: readonly BalanceCounter[];
  readonly inFlight: readonly InFlightCounter[];
}

type Claimed = Pick<ReserveRequest, "limits" | "balances" | "concurrency">;

interface Entry extends Claimed {
  readonly counters: ClaimedCounters;
}

export class ClaimedCounterCache {
  #entries = new WeakMap<object, Entry>();
  #isEmpty = true;

  /** @returns undefined when these very arrays have not been seen together */
  get(claimed: Claimed): ClaimedCounters | undefined {
    const entry = this.#entries.get(anchorOf(claimed));
    if (entry === undefined || entry.limits !== claimed.limits) return undefined;
    if (entry.balances !== claimed.balances || entry.concurrency !== claimed.concurrency) return undefined;
    return entry.counters;
  }

  set(claimed: Claimed, counters: ClaimedCounters): void {
    const { limits, balances, concurrency } = claimed;
    this.#entries.set(anchorOf(claimed), { limits, balances, concurrency, counters });
    this.#isEmpty = false;
  }

  clear(): void {
    if (this.#isEmpty) return;
    this.#entries = new WeakMap();
    this.#isEmpty = true;
  }
}

/** The array that says most about whose claims these are: an account's balance is claimed by all its keys. */
function anchorOf({ limits, concurrency, balances }: Claimed): object {
  if (limits.length > 0) return limits;
  return concurrency.length > 0 ? concurrency : balances;
}
