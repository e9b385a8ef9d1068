/** Finds the prices that a route lacks for a call whose spending is limited, so that the call is refused. */
import type { Snapshot } from "#proxy/snapshot/snapshot";
import type { Key, Limit, Route } from "#proxy/snapshot/types.gen";
import { appliesTo, exactNames, limitsOfKey } from "./limit-scope.ts";

/** The classes that every call uses; all others fall back to the price of one of these two. */
export type PriceClass = "input" | "output";

/**
 * The missing prices that keep a model from running (PURE): under an enforced limit in credits, or a balance, nothing
 * would ever stop the spending (docs/design/limits-and-money.md 10).
 *
 * @param model public name as the client wrote it
 * @returns none where the model may run
 */
export function missingPrices(key: Key, route: Route, model: string, snapshot: Snapshot): readonly PriceClass[] {
  const missing = (["input", "output"] as const).filter((name) => route.price?.[name] === undefined);
  return missing.length > 0 && mayNotSpendFreely(key, route, model, snapshot) ? missing : [];
}

function mayNotSpendFreely(key: Key, route: Route, model: string, snapshot: Snapshot): boolean {
  const account = key.account === undefined ? undefined : snapshot.account(key.namespace, key.account);
  if (account?.creditNanos !== undefined) return true;
  const names = exactNames(route);
  const isBound = (limit: Limit): boolean =>
    limit.unit === "Cost" && limit.mode === "Enforce" && appliesTo(limit, model, names);
  return [limitsOfKey(key, account), account?.limits, route.limits].some((limits) => limits?.some(isBound) === true);
}
