/**
 * The targets of a route with references to other routes followed (RESOURCES.md, ModelRoute `modelRef`).
 *
 * A reference stands for all targets of the route it names: within its tier they share its weight, and their own tiers
 * come one after the other in its place. At most three references deep; a cycle is an error of the route.
 */
import type { BodyRules, Route } from "../../proxy/snapshot/types.gen.ts";
import { SpecError } from "../resources/amounts.ts";
import { publicNameOf } from "../resources/model-route.ts";
import {
  type ChannelResource,
  identityOf,
  type ModelRouteResource,
  type NamespaceResource,
} from "../resources/resource.ts";
import type { ModelRouteTarget as TargetSpec } from "../resources/types.gen.ts";
import { compileBodyRules, mergeBodyRules } from "./limits/compile-limits.ts";
import { absentChannel, type Reach, refusalBy } from "./reach.ts";
import { refused, resolved, type Verdict } from "./result.ts";

export const referenceDepthMax = 3;
const targetsMax = 256;
/** Shares become integers by this factor: exact for the usual small weights, and 1,000,000 times it fits the wire. */
const weightScale = 900;

export type WireTarget = Route["targets"][number];

export interface TargetSurroundings {
  readonly routes: ReadonlyMap<string, ModelRouteResource>;
  readonly channels: ReadonlyMap<string, ChannelResource>;
  readonly namespaces: ReadonlyMap<string, NamespaceResource>;
  readonly reach: Reach;
  /** Whether a channel is on the wire. */
  isChannelServed(identity: string): boolean;
}

export interface TargetFact {
  readonly name: string;
  readonly verdict: Verdict;
  /** Resolved, but the channel takes nothing new. */
  readonly isResting?: boolean;
}

export interface FlattenedTargets {
  readonly targets: readonly WireTarget[];
  /** One for each target of the spec. */
  readonly facts: readonly TargetFact[];
  /** The routes of a cycle this route is part of, or why it is nested too deep. */
  readonly cycle?: readonly string[];
  readonly tooDeep?: true;
}

/** A target on its way up: its tier at each level and the parts of the weight on its path. */
interface Draft {
  readonly name: string;
  readonly channel: string;
  readonly tiers: readonly number[];
  /** Share of its tier's weight, as a fraction of the topmost target's weight. */
  readonly weight: number;
  readonly upstreamModel?: string;
  readonly parameters?: BodyRules;
}

/** @throws SpecError when more targets or rules result than the wire takes. */
export function flattenTargets(route: ModelRouteResource, surroundings: TargetSurroundings): FlattenedTargets {
  const start = identityOf(route.metadata);
  const cycle = findCycle(start, surroundings.routes);
  if (cycle) return { targets: [], facts: [], cycle };
  if (depthOf(start, surroundings.routes) > referenceDepthMax) return { targets: [], facts: [], tooDeep: true };
  const { drafts, facts } = draftTargets(route, surroundings);
  if (drafts.length > targetsMax)
    throw new SpecError(`spec.targets: ${drafts.length} after references, at most ${targetsMax}`);
  const hasReference = drafts.some(({ tiers }) => tiers.length > 1);
  return { targets: hasReference ? rank(drafts) : drafts.map(toWire), facts };
}

function toWire({ name, channel, tiers, weight, upstreamModel, parameters }: Draft): WireTarget {
  return {
    name: name.slice(0, 253),
    channel,
    priority: tiers[0] ?? 0,
    weight,
    ...(upstreamModel !== undefined && { upstreamModel }),
    ...(parameters && { parameters }),
  };
}

/** A way back to `start`, as the identities passed; undefined when there is none. */
function findCycle(start: string, routes: ReadonlyMap<string, ModelRouteResource>): string[] | undefined {
  const visited = new Set<string>();
  const walk = (identity: string, path: readonly string[]): string[] | undefined => {
    for (const next of referencesFrom(identity, routes)) {
      if (next === start) return [...path, next];
      if (visited.has(next)) continue;
      visited.add(next);
      const found = walk(next, [...path, next]);
      if (found) return found;
    }
    return undefined;
  };
  return walk(start, [start]);
}

/** Longest chain of references below a route; what refers to itself is not followed and fails by itself. */
function depthOf(identity: string, routes: ReadonlyMap<string, ModelRouteResource>, level = 0): number {
  if (level > referenceDepthMax) return level;
  let deepest = level;
  for (const next of referencesFrom(identity, routes)) {
    if (findCycle(next, routes)) continue;
    deepest = Math.max(deepest, depthOf(next, routes, level + 1));
  }
  return deepest;
}

function referencesFrom(identity: string, routes: ReadonlyMap<string, ModelRouteResource>): string[] {
  const route = routes.get(identity);
  const names = new Set((route?.spec?.targets ?? []).flatMap(({ modelRef }) => (modelRef ? [modelRef.name] : [])));
  return [...names].map((name) => `${route?.metadata.namespace}/${name}`);
}

interface Drafted {
  readonly drafts: readonly Draft[];
  readonly facts: readonly TargetFact[];
}

function draftTargets(route: ModelRouteResource, surroundings: TargetSurroundings): Drafted {
  const drafts: Draft[] = [];
  const facts: TargetFact[] = [];
  for (const target of route.spec?.targets ?? []) {
    const drafted = target.modelRef
      ? draftReference(route, target, target.modelRef.name, surroundings)
      : draftChannel(route, target, surroundings);
    drafts.push(...drafted.drafts);
    facts.push(...drafted.facts);
  }
  return { drafts, facts };
}

function draftChannel(route: ModelRouteResource, target: TargetSpec, surroundings: TargetSurroundings): Drafted {
  const { name, channelRef } = target;
  const own = route.metadata.namespace;
  const namespace = channelRef?.namespace ?? own;
  const identity = `${namespace}/${channelRef?.name}`;
  const channel = surroundings.channels.get(identity);
  const fail = (reason: string, message: string): Drafted => ({
    drafts: [],
    facts: [{ name, verdict: refused(reason, `Target ${name}: ${message}`) }],
  });
  if (!channel) return fail("ChannelNotFound", absentChannel(identity, surroundings.reach));
  const refusal = namespace === own ? undefined : refusalBy(channel, own, surroundings.namespaces, surroundings.reach);
  if (refusal !== undefined) return fail("NotAllowed", refusal);
  if (!surroundings.isChannelServed(identity)) {
    return fail("ChannelNotReady", `Channel ${identity} is not served; see its conditions.`);
  }
  if (channel.spec?.state === "Draining" || channel.spec?.state === "Disabled") {
    return { drafts: [], facts: [{ name, verdict: resolved, isResting: true }] };
  }
  const parameters = compileBodyRules(target.parameters);
  const draft: Draft = {
    name,
    channel: identity,
    tiers: [target.priority ?? 0],
    weight: target.weight ?? 1,
    ...(target.upstreamModel !== undefined && { upstreamModel: target.upstreamModel }),
    ...(parameters && { parameters }),
  };
  return { drafts: [draft], facts: [{ name, verdict: resolved }] };
}

function draftReference(
  route: ModelRouteResource,
  target: TargetSpec,
  routeName: string,
  surroundings: TargetSurroundings,
): Drafted {
  const identity = `${route.metadata.namespace}/${routeName}`;
  const referred = surroundings.routes.get(identity);
  const { name } = target;
  if (!referred?.spec) {
    const message = `Target ${name}: ModelRoute ${identity} does not exist or is not valid; create it or correct modelRef.`;
    return { drafts: [], facts: [{ name, verdict: refused("RouteNotFound", message) }] };
  }
  if (findCycle(identity, surroundings.routes)) {
    const message = `Target ${name}: ModelRoute ${identity} refers to itself; see its conditions.`;
    return { drafts: [], facts: [{ name, verdict: refused("Cycle", message) }] };
  }
  const inner = draftTargets(referred, surroundings);
  const weightOfTier = new Map<string, number>();
  for (const { tiers, weight } of inner.drafts) {
    const tier = tiers.join();
    weightOfTier.set(tier, (weightOfTier.get(tier) ?? 0) + weight);
  }
  const outerParameters = compileBodyRules(target.parameters);
  const drafts = inner.drafts.map((draft): Draft => {
    const total = weightOfTier.get(draft.tiers.join()) ?? 0;
    const upstreamModel =
      draft.upstreamModel ?? target.upstreamModel ?? upstreamNameOf(referred, draft.channel, surroundings);
    const parameters = mergeBodyRules(draft.parameters, outerParameters);
    return {
      name: `${name}/${draft.name}`,
      channel: draft.channel,
      tiers: [target.priority ?? 0, ...draft.tiers],
      weight: total === 0 ? 0 : ((target.weight ?? 1) * draft.weight) / total,
      ...(upstreamModel !== undefined && { upstreamModel }),
      ...(parameters && { parameters }),
    };
  });
  const isResting = drafts.length === 0 && inner.facts.some((fact) => fact.isResting);
  const failed = inner.facts.filter(({ verdict }) => verdict.status !== "True");
  if (drafts.length > 0 || failed.length === 0) return { drafts, facts: [{ name, verdict: resolved, isResting }] };
  const message = `Target ${name}: ModelRoute ${identity} has no target that is resolved; see its conditions.`;
  return { drafts, facts: [{ name, verdict: refused("RouteNotReady", message) }] };
}

/** What the referred route would have asked the channel for: the caller's public name means nothing there. */
function upstreamNameOf(
  route: ModelRouteResource,
  channel: string,
  { channels }: TargetSurroundings,
): string | undefined {
  const name = publicNameOf(route);
  if (name.includes("*")) return undefined;
  const models = channels.get(channel)?.spec?.models ?? [];
  const exact = models.find((model) => model.name === name);
  if (exact) return exact.upstreamName ?? name;
  // A wildcard of the channel maps by a rule of the proxy's; without one the name stays as it is.
  return models.some((model) => model.name.includes("*")) ? undefined : name;
}

/** Tiers of several levels as one number each, and shares as integers that keep their proportion within a tier. */
function rank(drafts: readonly Draft[]): WireTarget[] {
  const byTier = [...new Map(drafts.map(({ tiers }) => [tierKey(tiers), tiers])).values()].sort(compareTiers);
  const priorityOf = new Map(byTier.map((tiers, index) => [tierKey(tiers), index]));
  return drafts.map((draft) => {
    const weight = draft.weight === 0 ? 0 : Math.max(1, Math.round(draft.weight * weightScale));
    return toWire({ ...draft, tiers: [priorityOf.get(tierKey(draft.tiers)) ?? 0], weight });
  });
}

/** A plain target and the first tier of a reference beside it are one tier. */
function tierKey(tiers: readonly number[]): string {
  return tiers.join().replace(/(,0)+$/, "");
}

/** Shorter lists are filled with zeros: a plain target stands in the first tier of its place. */
function compareTiers(left: readonly number[], right: readonly number[]): number {
  for (let level = 0; level < Math.max(left.length, right.length); level += 1) {
    const difference = (left[level] ?? 0) - (right[level] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
