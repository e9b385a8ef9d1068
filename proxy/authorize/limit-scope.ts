/**
 * Decides which limits apply to a call (PURE). Reservations and refusals for a missing price both use it, so that they
 * agree.
 */
import type { Account, Key, Limit, Route } from "#proxy/snapshot/types.gen";
import { matchesAnyPattern } from "./model-pattern.ts";

/** The account's template holds for a key that has no limits. */
export function limitsOfKey(key: Key, account: Account | undefined): readonly Limit[] | undefined {
  return key.limits !== undefined && key.limits.length > 0 ? key.limits : account?.defaultKeyLimits;
}

/** Names under which a route can be called, without its patterns. */
export function exactNames(route: Route): readonly string[] {
  return [route.model, ...(route.aliases ?? [])].filter((name) => !name.includes("*"));
}

/**
 * Whether a limit holds for a model: when it names the model as called, or any other name of its route, so that an alias
 * is no way around it.
 */
export function appliesTo(limit: Limit, model: string, otherNames: readonly string[]): boolean {
  const { models } = limit;
  if (models === undefined) return true;
  return matchesAnyPattern(models, model) || otherNames.some((name) => matchesAnyPattern(models, name));
}
