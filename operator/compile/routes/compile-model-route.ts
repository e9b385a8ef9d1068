/**
 * Compiles a ModelRoute into its wire object (docs/design/configuration.md 2.3).
 *
 * A route without any usable target is still served, with no targets: its callers get 503, not 404.
 */

import { compileLimits, compileTimeouts } from "#operator/compile/limits/compile-limits";
import type { NameVerdict } from "#operator/compile/resolve-conflicts";
import { partiallyValid, type RouteResult, refused, resolved, valid } from "#operator/compile/result";
import { unservedByRoutes } from "#operator/compile/unserved-fields";
import { unreadableCallers } from "#operator/compile/watch-scope";
import { parseDurationMs, parseMicroCredits, parseTimestampMs, SpecError } from "#operator/resources/amounts";
import { publicNameOf } from "#operator/resources/model-route";
import type { Verdict } from "#operator/resources/reasons";
import type { ModelRouteResource } from "#operator/resources/resource";
import type { ModelRouteSpec, Price as PriceSpec } from "#operator/resources/types.gen";
import type { Route } from "#proxy/snapshot/types.gen";
import { type FlattenedTargets, flattenTargets, type TargetFact, type TargetSurroundings } from "./flatten-targets.ts";
import { referenceDepthMax } from "./route-references.ts";

export interface CompiledRoute {
  readonly object?: Route;
  readonly result: RouteResult;
}

/** @param namespaces whose keys may call the route, resolved; `["*"]` for all */
export function compileModelRoute(
  route: ModelRouteResource,
  names: NameVerdict | undefined,
  namespaces: readonly string[],
  surroundings: TargetSurroundings,
): CompiledRoute {
  const { namespace, name, generation } = route.metadata;
  const id = `route/${namespace}/${name}`;
  const base = { id, kind: "ModelRoute", namespace, name, generation, model: publicNameOf(route) } as const;
  const unserved = (accepted: Verdict<"Accepted">): CompiledRoute => {
    const available = refused("NotAccepted", "The route is not served; see Accepted.");
    return { result: { ...base, accepted, resolvedRefs: resolved, available, targets: [], wireIds: [] } };
  };
  if (!route.spec) return unserved(refused("Invalid", route.invalid ?? "The manifest is not valid."));
  if (names?.modelOwner !== undefined) {
    const message = `ModelRoute ${names.modelOwner} came first and serves ${publicNameOf(route)} to the same namespaces; choose another spec.model or narrow spec.keySelector.namespaces.`;
    return unserved(refused("Conflicted", message));
  }
  try {
    const flattened = flattenTargets(route, surroundings);
    if (flattened.cycle) {
      return unserved(
        refused("Cycle", `The modelRef targets lead back here: ${flattened.cycle.join(" -> ")}; remove one.`),
      );
    }
    if (flattened.tooDeep) {
      const message = `spec.targets: modelRef is followed at most ${referenceDepthMax} times; refer to a channel or a nearer route.`;
      return unserved(refused("Invalid", message));
    }
    const object = routeObject(route, route.spec, names, namespaces, flattened);
    const weightless = new Set(route.spec.targets.filter(({ weight }) => weight === 0).map((target) => target.name));
    return {
      object,
      result: {
        ...base,
        accepted: acceptedVerdict(route, route.spec, names),
        resolvedRefs: refsVerdict(flattened, unreadableCallers(route, surroundings.reach)),
        available: availableVerdict(flattened),
        targets: flattened.facts.map((fact) => targetStatus(fact, weightless.has(fact.name))),
        wireIds: [id],
      },
    };
  } catch (error) {
    if (!(error instanceof SpecError)) throw error;
    return unserved(refused("Invalid", `${error.message}.`));
  }
}

function acceptedVerdict(
  route: ModelRouteResource,
  spec: ModelRouteSpec,
  names: NameVerdict | undefined,
): Verdict<"Accepted"> {
  if (route.invalid !== undefined) return refused("Invalid", `${route.invalid} The previous version is served.`);
  const lost = [...(names?.lostAliases ?? [])].map(
    ([alias, owner]) => `spec.aliases: ${alias} belongs to ModelRoute ${owner}, which came first; it is left out.`,
  );
  const problems = [...lost, ...unservedByRoutes(spec)];
  return problems.length > 0 ? partiallyValid(problems) : valid;
}

function targetStatus({ name, verdict, isResting }: TargetFact, isWeightless: boolean): RouteResult["targets"][number] {
  const resolved = verdict.status === "True";
  if (resolved && isWeightless) return { name, resolved, reason: "WeightIsZero" };
  return { name, resolved, reason: isResting ? "ChannelNotActive" : verdict.reason };
}

/** @param callers the problem of the choice of callers */
function refsVerdict(
  { facts }: FlattenedTargets,
  callers: Verdict<"ResolvedRefs"> | undefined,
): Verdict<"ResolvedRefs"> {
  const verdicts = [...(callers ? [callers] : []), ...facts.map(({ verdict }) => verdict)];
  const failed = verdicts.filter(({ status }) => status !== "True");
  const [first] = failed;
  return first ? { ...first, message: failed.map(({ message }) => message).join(" ") } : resolved;
}

function availableVerdict({ targets, facts }: FlattenedTargets): Verdict<"Available"> {
  const weighted = targets.filter(({ weight }) => weight > 0).length;
  if (weighted > 0) {
    const count = weighted === 1 ? "1 target" : `${weighted} targets`;
    return { status: "True", reason: "Available", message: `${count} can be chosen.` };
  }
  const why = facts.some(({ isResting }) => isResting) ? "its channels are draining or disabled" : "see ResolvedRefs";
  return refused(
    "NoUsableTarget",
    `No target can be chosen (${targets.length > 0 ? "every weight is 0" : why}); callers get 503.`,
  );
}

/** @throws SpecError when something cannot be enforced as written. */
function routeObject(
  route: ModelRouteResource,
  spec: ModelRouteSpec,
  names: NameVerdict | undefined,
  namespaces: readonly string[],
  { targets }: FlattenedTargets,
): Route {
  const aliases = (spec.aliases ?? []).filter((alias) => !names?.lostAliases.has(alias));
  const { matchLabels, matchExpressions } = spec.keySelector ?? {};
  return {
    kind: "route",
    namespace: route.metadata.namespace,
    name: route.metadata.name,
    model: publicNameOf(route),
    ...(aliases.length > 0 && { aliases }),
    visibility: spec.visibility ?? "Listed",
    ...(spec.info && { info: infoObject(spec.info) }),
    capabilities: [...(spec.capabilities ?? ["Chat" as const])],
    targets: [...targets],
    strategy: spec.strategy ?? "Weighted",
    failover: failoverObject(spec.failover),
    ...(spec.timeouts && { timeouts: compileTimeouts(spec.timeouts, "spec.timeouts") }),
    keySelector: {
      namespaces: [...namespaces],
      ...(matchLabels && { matchLabels: { ...matchLabels } }),
      ...(matchExpressions && {
        matchExpressions: matchExpressions.map(({ key, operator, values }) => ({
          key,
          operator,
          ...(values && { values: [...values] }),
        })),
      }),
    },
    ...(spec.limits && { limits: compileLimits(spec.limits, "spec.limits") }),
    ...(spec.parameters && { parameters: parametersObject(spec.parameters) }),
    ...(spec.price && { price: priceObject(spec.price) }),
  };
}

function infoObject({ createdAt, ...rest }: NonNullable<ModelRouteSpec["info"]>): NonNullable<Route["info"]> {
  return { ...rest, ...(createdAt !== undefined && { createdAt: parseTimestampMs(createdAt, "spec.info.createdAt") }) };
}

function failoverObject(failover: ModelRouteSpec["failover"]): Route["failover"] {
  const { maxAttempts, on, statuses, withinFirst, backoff, retryAfter } = failover ?? {};
  const field = "spec.failover";
  return {
    maxAttempts: maxAttempts ?? 3,
    on: [
      ...(on ??
        ([
          "ConnectFailure",
          "Timeout",
          "RateLimited",
          "ServerError",
          "CredentialRejected",
          "PaymentRequired",
        ] as const)),
    ],
    ...(statuses && { statuses: [...statuses] }),
    withinFirstMs: parseDurationMs(withinFirst ?? "30s", `${field}.withinFirst`),
    ...(backoff?.base !== undefined && { backoffBaseMs: parseDurationMs(backoff.base, `${field}.backoff.base`) }),
    ...(backoff?.max !== undefined && { backoffMaxMs: parseDurationMs(backoff.max, `${field}.backoff.max`) }),
    honorRetryAfter: retryAfter !== "Ignore",
  };
}

function parametersObject(parameters: NonNullable<ModelRouteSpec["parameters"]>): NonNullable<Route["parameters"]> {
  return parameters.map(({ name, minimum, maximum, allowed, support }) => ({
    name,
    ...(minimum !== undefined && { minimum: Number(minimum) }),
    ...(maximum !== undefined && { maximum: Number(maximum) }),
    ...(allowed && { allowed: [...allowed] }),
    ...(support !== undefined && { supported: support === "Supported" }),
  }));
}

function priceObject(price: PriceSpec): NonNullable<Route["price"]> {
  const compiled: NonNullable<Route["price"]> = {};
  const put = (
    member: Exclude<keyof typeof compiled, "images">,
    field: Exclude<keyof PriceSpec, "unit" | "perImage">,
  ) => {
    const amount = price[field];
    if (amount !== undefined) compiled[member] = parseMicroCredits(amount, `spec.price.${field}`);
  };
  put("input", "inputPerMillion");
  put("cachedInput", "cachedInputPerMillion");
  put("cacheWrite", "cacheWritePerMillion");
  put("cacheWrite1h", "cacheWrite1hPerMillion");
  put("output", "outputPerMillion");
  put("reasoning", "reasoningPerMillion");
  put("audioInput", "audioInputPerMillion");
  put("audioOutput", "audioOutputPerMillion");
  put("imageInput", "imageInputPerMillion");
  put("imageOutput", "imageOutputPerMillion");
  put("characters", "perMillionCharacters");
  put("request", "perRequest");
  put("audioMinute", "perMinuteAudio");
  put("search", "perSearch");
  if (price.perImage) {
    compiled.images = price.perImage.map(({ size, quality, price: amount }, index) => ({
      ...(size !== undefined && { size }),
      ...(quality !== undefined && { quality }),
      price: parseMicroCredits(amount, `spec.price.perImage[${index}].price`),
    }));
  }
  return compiled;
}
