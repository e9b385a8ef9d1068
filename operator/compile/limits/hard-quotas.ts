/**
 * Finds quotas that hold over the whole fleet only with a shared store (docs/design/limits-and-money.md 8): proxies
 * that each count for themselves would grant a quota several times. Rates are allowed and then hold for each proxy.
 * Pure.
 */

import type { CompiledChannel } from "#operator/compile/compile-channel";
import { type ObjectResult, type RouteResult, refused } from "#operator/compile/result";
import type { CompiledRoute } from "#operator/compile/routes/compile-model-route";
import type { Verdict } from "#operator/resources/reasons";
import type { Limit, WireObject } from "#proxy/snapshot/types.gen";

/**
 * Where the proxies count. `Exact`: one proxy, or a store that all share. `PerProxy`: each for itself, so that hard
 * quotas are refused.
 */
export type QuotaScope = "Exact" | "PerProxy";

/** A compiled resource as it may be served: one with hard quotas is refused, which denies a key. */
export function withoutHardQuotas<Result extends ObjectResult>(
  compiled: { readonly object?: WireObject; readonly result: Result },
  scope: QuotaScope,
): { readonly object?: WireObject; readonly result: Result } {
  const accepted = scope === "Exact" ? undefined : needsSharedStore(compiled.object);
  return accepted === undefined ? compiled : { result: { ...compiled.result, accepted, wireIds: [] } };
}

/** The same for a route, which is then not available either. */
export function withoutHardRoute(
  compiled: CompiledRoute,
  scope: QuotaScope,
): { readonly object?: WireObject; readonly result: RouteResult } {
  const kept = withoutHardQuotas(compiled, scope);
  if (kept.object === compiled.object) return kept;
  return { result: { ...kept.result, available: refused("NotAccepted", "The route is not served; see Accepted.") } };
}

/** The same for a channel and its credentials. */
export function withoutHardChannel(compiled: CompiledChannel, scope: QuotaScope): CompiledChannel {
  const channel = compiled.objects.find(({ kind }) => kind === "channel");
  const kept = withoutHardQuotas({ ...(channel && { object: channel }), result: compiled.result }, scope);
  return kept.object === channel ? compiled : { objects: [], result: kept.result };
}

/** @returns the refusal of an object that needs a shared store; undefined when it needs none */
function needsSharedStore(object: WireObject | undefined): Verdict<"Accepted"> | undefined {
  const names = object === undefined ? [] : hardQuotasOf(object);
  if (names.length === 0) return undefined;
  const message = `Each proxy counts for itself, so several proxies would grant ${names.join(", ")} several times. Give the proxies a shared store, run one proxy, or use limits of Second to Hour that are not in Cost.`;
  return refused("NeedsSharedStore", message);
}

function hardQuotasOf(object: WireObject): string[] {
  switch (object.kind) {
    case "key":
    case "route":
    case "channel":
      return hardLimits(object.limits);
    case "account":
      return [
        ...(object.creditNanos === undefined ? [] : ["spec.credit"]),
        ...hardLimits(object.limits),
        ...hardLimits(object.defaultKeyLimits),
      ];
    case "credential":
    case "fleet":
      return [];
    default:
      return object satisfies never;
  }
}

function hardLimits(limits: readonly Limit[] | undefined): string[] {
  const isRate = ({ period }: Limit): boolean => period === "Second" || period === "Minute" || period === "Hour";
  return (limits ?? [])
    .filter((limit) => limit.mode === "Enforce" && (limit.unit === "Cost" || !isRate(limit)))
    .map(({ name }) => `limit ${name}`);
}
