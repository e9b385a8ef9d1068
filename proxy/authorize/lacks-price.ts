import type { Snapshot } from "../snapshot/snapshot.ts";
import type { Key, Limit, Route } from "../snapshot/types.gen.ts";
import { appliesTo, exactNames, limitsOfKey } from "./limit-scope.ts";

/**
 * Whether a model may not run for want of a price (PURE): under an enforced limit in credits, or a balance, nothing would
 * ever stop the spending (DESIGN.md section 6).
 *
 * @param model public name as the client wrote it
 */
export function lacksPrice(key: Key, route: Route, model: string, snapshot: Snapshot): boolean {
  if (isPriced(route)) return false;
  const account = key.account === undefined ? undefined : snapshot.account(key.namespace, key.account);
  if (account?.creditNanos !== undefined) return true;
  const names = exactNames(route);
  const isBound = (limit: Limit): boolean =>
    limit.unit === "Cost" && limit.mode === "Enforce" && appliesTo(limit, model, names);
  return [limitsOfKey(key, account), account?.limits, route.limits].some((limits) => limits?.some(isBound) === true);
}

/** What every call uses has a price of its own; all other tokens fall back to these two. */
function isPriced({ price }: Route): boolean {
  return price?.input !== undefined && price.output !== undefined;
}
