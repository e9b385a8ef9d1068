/**
 * Flattens the targets of a route: replaces references to other routes by the targets of those routes
 * (docs/design/configuration.md 2.3).
 *
 * The targets of a referenced route share the reference's weight within its tier, and their own tiers follow one
 * another in its place. References go at most three deep; a cycle is an error of the route.
 *
 * Targets multiply with every level, so they are counted before any is made, and the targets below a route are computed
 * once in a pass, however many references lead there.
 */

import { compileBodyRules, mergeBodyRules } from "#operator/compile/limits/compile-limits";
import { refused, resolved } from "#operator/compile/result";
import { absentChannel, refusalBy, type WatchScope } from "#operator/compile/watch-scope";
import { SpecError } from "#operator/resources/amounts";
import { publicNameOf } from "#operator/resources/model-route";
import type { ReasonOf, Verdict } from "#operator/resources/reasons";
import {
  type ChannelResource,
  identityOf,
  type ModelRouteResource,
  type NamespaceResource,
} from "#operator/resources/resource";
import type { ModelRouteTarget as TargetSpec } from "#operator/resources/types.gen";
import type { BodyRules, Route } from "#proxy/snapshot/types.gen";
import type { RouteReferences } from "./route-references.ts";

const targetsMax = 256;
/** Shares become integers by this factor: exact for the usual small weights, and 1,000,000 times it fits the wire. */
const weightScale = 900;

export type WireTarget = Route["targets"][number];

export interface TargetSurroundings {
  readonly references: RouteReferences;
  /** Results of this pass, by identity of the route. */
  readonly drafted: Map<string, Drafted>;
  readonly channels: ReadonlyMap<string, ChannelResource>;
  readonly namespaces: ReadonlyMap<string, NamespaceResource>;
  readonly reach: WatchScope;
  /** Whether a channel is on the wire. */
  isChannelServed(identity: string): boolean;
}

export interface TargetFact {
  readonly name: string;
  readonly verdict: Verdict<"ResolvedRefs">;
  /** Resolved, but the channel accepts no new calls. */
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

/** A target while it is flattened: its tier at each level and the parts of the weight on its path. */
interface Draft {
  readonly name: string;
  readonly channel: string;
  readonly tiers: readonly number[];
  /** Share of its tier's weight, as a fraction of the topmost target's weight. */
  readonly weight: number;
  readonly upstreamModel?: string;
  readonly parameters?: BodyRules;
}

/** @throws SpecError when the result has more targets or rules than the wire allows. */
export function flattenTargets(route: ModelRouteResource, surroundings: TargetSurroundings): FlattenedTargets {
  const start = identityOf(route.metadata);
  const { references } = surroundings;
  if (references.isInCycle(start)) return { targets: [], facts: [], cycle: references.cyclePath(start) };
  if (references.isTooDeep(start)) return { targets: [], facts: [], tooDeep: true };
  const { count, drafts, facts } = draftTargets(route, surroundings);
  if (count > targetsMax)
    throw new SpecError(
      `spec.targets: ${count} targets, including those of referenced routes; at most ${targetsMax} are possible`,
    );
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

interface Drafted {
  /** How many targets there are, also where they are too many to be made. */
  readonly count: number;
  readonly drafts: readonly Draft[];
  readonly facts: readonly TargetFact[];
}

/** The flattened targets of one target of the spec: first their number, then the targets. */
interface Part {
  readonly fact: TargetFact;
  readonly count: number;
  readonly make: () => readonly Draft[];
}

const nothing = { count: 0, make: () => [] };

function draftTargets(route: ModelRouteResource, surroundings: TargetSurroundings): Drafted {
  const identity = identityOf(route.metadata);
  const known = surroundings.drafted.get(identity);
  if (known !== undefined) return known;
  const parts = (route.spec?.targets ?? []).map((target) =>
    target.modelRef
      ? referencePart(route, target, target.modelRef.name, surroundings)
      : channelPart(route, target, surroundings),
  );
  const count = parts.reduce((sum, part) => sum + part.count, 0);
  const drafted: Drafted = {
    count,
    drafts: count > targetsMax ? [] : parts.flatMap((part) => part.make()),
    facts: parts.map(({ fact }) => fact),
  };
  surroundings.drafted.set(identity, drafted);
  return drafted;
}

function channelPart(route: ModelRouteResource, target: TargetSpec, surroundings: TargetSurroundings): Part {
  const { name, channelRef } = target;
  const own = route.metadata.namespace;
  const namespace = channelRef?.namespace ?? own;
  const identity = `${namespace}/${channelRef?.name}`;
  const channel = surroundings.channels.get(identity);
  const fail = (reason: ReasonOf<"ResolvedRefs", "False">, message: string): Part => ({
    ...nothing,
    fact: { name, verdict: refused(reason, `Target ${name}: ${message}`) },
  });
  if (!channel) return fail("ChannelNotFound", absentChannel(identity, surroundings.reach));
  const refusal = namespace === own ? undefined : refusalBy(channel, own, surroundings.namespaces, surroundings.reach);
  if (refusal !== undefined) return fail("NotAllowed", refusal);
  if (!surroundings.isChannelServed(identity)) {
    return fail("ChannelNotReady", `Channel ${identity} is not served; see its conditions.`);
  }
  if (channel.spec?.state === "Draining" || channel.spec?.state === "Disabled") {
    return { ...nothing, fact: { name, verdict: resolved, isResting: true } };
  }
  return { fact: { name, verdict: resolved }, count: 1, make: () => [channelDraft(target, identity)] };
}

function channelDraft(target: TargetSpec, channel: string): Draft {
  const parameters = compileBodyRules(target.parameters);
  return {
    name: target.name,
    channel,
    tiers: [target.priority ?? 0],
    weight: target.weight ?? 1,
    ...(target.upstreamModel !== undefined && { upstreamModel: target.upstreamModel }),
    ...(parameters && { parameters }),
  };
}

function referencePart(
  route: ModelRouteResource,
  target: TargetSpec,
  routeName: string,
  surroundings: TargetSurroundings,
): Part {
  const identity = `${route.metadata.namespace}/${routeName}`;
  const referred = surroundings.references.routeOf(identity);
  const { name } = target;
  const fail = (reason: ReasonOf<"ResolvedRefs", "False">, message: string): Part => ({
    ...nothing,
    fact: { name, verdict: refused(reason, `Target ${name}: ModelRoute ${identity} ${message}`) },
  });
  if (!referred?.spec) return fail("RouteNotFound", "does not exist or is not valid; create it or correct modelRef.");
  if (surroundings.references.isInCycle(identity)) return fail("Cycle", "refers to itself; see its conditions.");
  const { count, drafts, facts } = draftTargets(referred, surroundings);
  if (count === 0 && facts.some(({ verdict }) => verdict.status !== "True")) {
    return fail("RouteNotReady", "has no target that is resolved; see its conditions.");
  }
  const isResting = count === 0 && facts.some((fact) => fact.isResting);
  return {
    fact: { name, verdict: resolved, isResting },
    count,
    make: () => referenceDrafts(target, referred, drafts, surroundings),
  };
}

/** The targets of another route in place of the reference to it. */
function referenceDrafts(
  target: TargetSpec,
  referred: ModelRouteResource,
  inner: readonly Draft[],
  surroundings: TargetSurroundings,
): Draft[] {
  const weightOfTier = new Map<string, number>();
  for (const { tiers, weight } of inner) {
    const tier = tiers.join();
    weightOfTier.set(tier, (weightOfTier.get(tier) ?? 0) + weight);
  }
  const outerParameters = compileBodyRules(target.parameters);
  return inner.map((draft): Draft => {
    const total = weightOfTier.get(draft.tiers.join()) ?? 0;
    const upstreamModel =
      draft.upstreamModel ?? target.upstreamModel ?? upstreamNameOf(referred, draft.channel, surroundings);
    const parameters = mergeBodyRules(draft.parameters, outerParameters);
    return {
      name: `${target.name}/${draft.name}`,
      channel: draft.channel,
      tiers: [target.priority ?? 0, ...draft.tiers],
      weight: total === 0 ? 0 : ((target.weight ?? 1) * draft.weight) / total,
      ...(upstreamModel !== undefined && { upstreamModel }),
      ...(parameters && { parameters }),
    };
  });
}

/** The model that the referenced route would ask the channel for; the caller's public name means nothing there. */
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

/** Shorter lists are filled with zeros: a plain target is in the first tier of its place. */
function compareTiers(left: readonly number[], right: readonly number[]): number {
  for (let level = 0; level < Math.max(left.length, right.length); level += 1) {
    const difference = (left[level] ?? 0) - (right[level] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
