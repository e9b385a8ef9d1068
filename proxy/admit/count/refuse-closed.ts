/** Decides what is refused while the ledger's store fails (docs/design/limits-and-money.md 9). */
import type { Refusal, ReserveRequest } from "#proxy/admit/ledger";
import type { QuotaFailureMode } from "#proxy/settings";
import type { LimitRules } from "./limit-counter.ts";

/** Earliest sensible retry for a client that was refused because of the store. */
const storeRetryMs = 5_000;

/**
 * The refusal of a request that has something to refuse it for; undefined where it has not: by default a balance or a
 * quota, with `Closed` any limit.
 */
export function refuseClosed(
  request: ReserveRequest,
  mode: QuotaFailureMode,
  rules: LimitRules,
  nowMs: number,
): Refusal | undefined {
  if (mode === "Open") return undefined;
  const balance = request.balances.find((claim) => claim.grantedNanos !== undefined);
  const quota = request.limits.find(
    ({ limit }) => limit.mode === "Enforce" && (mode === "Closed" || rules.ruleFor(limit).isQuota),
  );
  const counter = balance?.counter ?? quota?.counter;
  if (counter === undefined) return undefined;
  const retryAtMs = nowMs + storeRetryMs;
  return { kind: "refused", reason: "store-unavailable", counter, limit: quota?.limit, retryAtMs, states: [] };
}
