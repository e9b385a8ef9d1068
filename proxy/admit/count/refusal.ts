/**
 * Chooses which of the exceeded limits a refusal names, and computes when the same request could fit.
 *
 * It names the limit that takes longest to recover: a client that is told to come back in a second while its quota is
 * used up would come back in vain. The order is balance, quota, rate, concurrency; within one kind the longest wait
 * comes first.
 */

import type { LimitState, Refusal, ReserveRequest } from "#proxy/admit/ledger";
import { amountOf, type InFlightCounter, type NarrowAmounts } from "./held-reservation.ts";
import { type BalanceCounter, type LimitCounter, pendingRetryMs } from "./limit-counter.ts";

/** One claim that did not fit. `retryAtMs`: undefined where waiting cannot cure it. */
export type Blocker = Pick<Refusal, "reason" | "counter" | "limit" | "retryAtMs">;

const severity = { "store-unavailable": 4, balance: 3, quota: 2, rate: 1, concurrency: 0 } as const;

/** Describes why `request` was refused. Called only after at least one of its claims did not fit. */
export function refusalOf(
  request: ReserveRequest,
  amounts: NarrowAmounts,
  limits: readonly LimitCounter[],
  balances: readonly BalanceCounter[],
  inFlight: readonly InFlightCounter[],
  nowMs: number,
): Refusal {
  const blockers: Blocker[] = [];
  request.balances.forEach((claim, index) => {
    const tally = balances[index]?.tally;
    const ceiling = balances[index]?.ceiling(claim.grantedNanos);
    if (tally === undefined || ceiling === undefined || tally.fits(amounts.costNanos, ceiling)) return;
    const waitsForOthers = tally.fitsWithoutPending(amounts.costNanos, ceiling);
    const retryAtMs = waitsForOthers ? nowMs + pendingRetryMs : undefined;
    blockers.push({ reason: "balance", counter: claim.counter, limit: undefined, retryAtMs });
  });
  for (const counter of limits) {
    const amount = amountOf(counter.rule.unit, amounts);
    if (!counter.rule.isEnforced || counter.fits(amount)) continue;
    const reason = counter.rule.isQuota ? "quota" : "rate";
    blockers.push({ reason, counter: counter.name, limit: counter.limit, retryAtMs: counter.retryAtMs(amount, nowMs) });
  }
  request.concurrency.forEach((claim, index) => {
    if ((inFlight[index]?.inFlight ?? 0) < claim.maxInFlight) return;
    const retryAtMs = claim.maxInFlight > 0 ? nowMs + pendingRetryMs : undefined;
    blockers.push({ reason: "concurrency", counter: claim.counter, limit: undefined, retryAtMs });
  });
  return chooseRefusal(
    blockers,
    limits.map((counter) => counter.state()),
  );
}

/** @param blockers at least one; @param states the numbers of all limits. @throws Error without a blocker */
export function chooseRefusal(blockers: readonly Blocker[], states: readonly LimitState[]): Refusal {
  const [first] = blockers.toSorted((a, b) => severity[b.reason] - severity[a.reason] || waitOf(b) - waitOf(a));
  if (first === undefined) throw new Error("a refusal without anything that refuses");
  const longest = blockers.reduce((wait, blocker) => Math.max(wait, waitOf(blocker)), 0);
  const retryAtMs = longest === Number.POSITIVE_INFINITY ? undefined : longest;
  return { kind: "refused", ...first, retryAtMs, states };
}

function waitOf(blocker: Blocker): number {
  return blocker.retryAtMs ?? Number.POSITIVE_INFINITY;
}
