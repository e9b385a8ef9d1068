/**
 * Chooses the next target for a call: priority first, then weight, never one that was tried (PURE).
 *
 * A target counts only if it has a weight and its channel is active, serves the model at the call's endpoint, speaks
 * one of the endpoint's formats and has a live credential (or needs none). The call says which formats can serve it,
 * the preferred first: the client's own, and those that it can be translated to. The caller brings the random number,
 * so that a choice can be replayed.
 */
import type { Snapshot } from "#proxy/snapshot/snapshot";
import type { Capability, Channel, Credential, Route, WireFormat } from "#proxy/snapshot/types.gen";
import type { AttemptHistory } from "./attempt-history.ts";
import { lacksCapability } from "./upstream-model.ts";

export type RouteTarget = Route["targets"][number];

/** A format as a channel speaks it. */
export interface SpokenFormat<F extends WireFormat = WireFormat> {
  readonly format: F;
  /** Path template of the format on the channel. */
  readonly path: string;
  /** Whose form of the format it is; undefined for the usual one. */
  readonly dialect?: FormatDialect | undefined;
}

/** Of a format that vendors give different shapes. */
export type FormatDialect = NonNullable<Channel["formats"][number]["dialect"]>;

export interface SelectedTarget<F extends WireFormat = WireFormat> extends SpokenFormat<F> {
  readonly target: RouteTarget;
  readonly channel: Channel;
  /** Undefined for a channel that needs none (a server inside the cluster). */
  readonly credential: Credential | undefined;
}

/** Serves a call in other words: a model that can only chat can go on with a text. */
export interface OtherWay<F extends WireFormat = WireFormat> {
  /** That the model must have. */
  readonly capability: Capability;
  /** Of `ServedCall.formats`, those that say the call so. */
  readonly formats: readonly F[];
}

/** What a target must be able to serve. */
export interface ServedCall<F extends WireFormat = WireFormat> {
  readonly route: Route;
  /** Public name as the client wrote it. */
  readonly model: string;
  readonly capability: Capability;
  /** The formats that can serve the call, the preferred first. */
  readonly formats: readonly F[];
  /** The same on one channel, where their order depends on it; `formats` when absent. */
  readonly formatsOn?: ((target: RouteTarget, channel: Channel) => readonly F[]) | undefined;
  /** How a model that lacks the capability can serve the call; it cannot when absent. */
  readonly instead?: OtherWay<F> | undefined;
  /** Where a channel may have several paths of one format: whether one of them serves the call; all do when absent. */
  readonly acceptsPath?: ((path: string) => boolean) | undefined;
}

export interface SelectionRequest<F extends WireFormat = WireFormat> extends ServedCall<F> {
  readonly snapshot: Snapshot;
  readonly tried: AttemptHistory;
  /** The one channel, and its credential, that keep what the call refers to: in the first of the formats. */
  readonly affinity?: { readonly channel: string; readonly credential: string | undefined } | undefined;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

/** @returns undefined when no usable target is left. */
export function selectTarget<F extends WireFormat>(request: SelectionRequest<F>): SelectedTarget<F> | undefined {
  let tier: RouteTarget[] = [];
  let tierPriority = Number.POSITIVE_INFINITY;
  for (const target of request.route.targets) {
    if (target.priority > tierPriority || request.tried.hasTarget(target.name) || !isUsable(target, request)) continue;
    if (target.priority < tierPriority) {
      tierPriority = target.priority;
      tier = [];
    }
    tier.push(target);
  }
  const target = weighted(tier, request.random);
  return target === undefined ? undefined : resolve(target, request);
}

function isUsable(target: RouteTarget, request: SelectionRequest): boolean {
  const { snapshot, affinity, tried } = request;
  // A share of 0 is one of new calls: a conversation that is kept there goes on.
  if (affinity !== undefined)
    return obstacleOfChannel(target, request, snapshot) === undefined && isBound(target, affinity, request);
  if (obstacleOf(target, request, snapshot) !== undefined) return false;
  const channel = snapshot.channel(target.channel);
  if (channel === undefined || channel.credentials.length === 0 || !tried.hasCredentials) return true;
  return untriedCredentials(target, channel, request).length > 0;
}

/** Why a target takes no calls like this one now, for people; undefined when it takes them. */
export function obstacleOf(target: RouteTarget, call: ServedCall, snapshot: Snapshot): string | undefined {
  return target.weight === 0 ? "its weight is 0" : obstacleOfChannel(target, call, snapshot);
}

/** Whether no target of the route could ever serve the call: its endpoint is none of the model's. */
export function isServedNowhere(call: ServedCall, snapshot: Snapshot): boolean {
  // A route without targets has lost them: it may have some again.
  if (call.route.targets.length === 0) return false;
  return call.route.targets.every((target) => {
    const channel = snapshot.channel(target.channel);
    return channel !== undefined && endpointObstacle(target, channel, call) !== undefined;
  });
}

function obstacleOfChannel(target: RouteTarget, call: ServedCall, snapshot: Snapshot): string | undefined {
  const channel = snapshot.channel(target.channel);
  if (channel === undefined) return "the channel is not in the configuration";
  if (channel.state !== "Active") return `the channel is ${channel.state}`;
  const obstacle = endpointObstacle(target, channel, call);
  if (obstacle !== undefined) return obstacle;
  if (channel.credentials.length === 0 || liveCredentials(channel, snapshot).length > 0) return undefined;
  return "the channel has no live credential";
}

function endpointObstacle(target: RouteTarget, channel: Channel, call: ServedCall): string | undefined {
  if (spokenTo(target, channel, call) !== undefined) return undefined;
  const { formats, capability, acceptsPath } = call;
  const isSpoken = spokenFormat(channel, formats, acceptsPath) !== undefined;
  return isSpoken
    ? `the channel's model does not serve ${capability}`
    : `the channel speaks no format of ${capability}`;
}

/** How a target is spoken to for a call; undefined where its channel or its model cannot serve it. */
export function spokenTo<F extends WireFormat>(
  target: RouteTarget,
  channel: Channel,
  call: ServedCall<F>,
): SpokenFormat<F> | undefined {
  const { route, model, capability, instead, acceptsPath } = call;
  const lacks = (one: Capability): boolean => lacksCapability({ channel, route, target }, model, one);
  if (!lacks(capability)) return spokenFormat(channel, call.formatsOn?.(target, channel) ?? call.formats, acceptsPath);
  if (instead === undefined || lacks(instead.capability)) return undefined;
  return spokenFormat(channel, instead.formats, acceptsPath);
}

/** What a provider keeps is for its own account alone, and only in its own format. */
function isBound(
  target: RouteTarget,
  affinity: NonNullable<SelectionRequest["affinity"]>,
  { snapshot, formats, tried }: SelectionRequest,
): boolean {
  const channel = snapshot.channel(target.channel);
  if (channel === undefined || target.channel !== affinity.channel) return false;
  if (spokenFormat(channel, formats)?.format !== formats[0]) return false;
  if (affinity.credential === undefined) return channel.credentials.length === 0;
  if (tried.hasCredential(target.name, affinity.credential)) return false;
  return boundCredential(channel, affinity.credential, snapshot) !== undefined;
}

function boundCredential(channel: Channel, name: string, snapshot: Snapshot): Credential | undefined {
  return liveCredentials(channel, snapshot).find(({ credential }) => credential.name === name)?.credential;
}

function resolve<F extends WireFormat>(
  target: RouteTarget,
  request: SelectionRequest<F>,
): SelectedTarget<F> | undefined {
  const channel = request.snapshot.channel(target.channel);
  if (channel === undefined) return undefined;
  const spoken = spokenTo(target, channel, request);
  if (spoken === undefined) return undefined;
  if (channel.credentials.length === 0) return { target, channel, credential: undefined, ...spoken };
  const bound = request.affinity?.credential;
  if (bound !== undefined) {
    return { target, channel, credential: boundCredential(channel, bound, request.snapshot), ...spoken };
  }
  const chosen = weighted(untriedCredentials(target, channel, request), request.random);
  return chosen === undefined ? undefined : { target, channel, credential: chosen.credential, ...spoken };
}

/** The first of the formats that a channel speaks; undefined when it speaks none of them. */
export function spokenFormat<F extends WireFormat>(
  channel: Channel,
  formats: readonly F[],
  acceptsPath?: (path: string) => boolean,
): SpokenFormat<F> | undefined {
  for (const format of formats) {
    for (const { type, path, dialect } of channel.formats) {
      if (type === format && acceptsPath?.(path) !== false) return { format, path, dialect };
    }
  }
  return undefined;
}

interface LiveCredential {
  readonly weight: number;
  readonly credential: Credential;
}

/** The live ones that this call has not tried in vain. */
function untriedCredentials(
  target: RouteTarget,
  channel: Channel,
  request: SelectionRequest,
): readonly LiveCredential[] {
  const { tried, snapshot } = request;
  const live = liveCredentials(channel, snapshot);
  if (!tried.hasCredentials) return live;
  return live.filter(({ credential }) => !tried.hasCredential(target.name, credential.name));
}

/** A snapshot never changes, so what a channel's pool is in it is looked up once. */
const pools = new WeakMap<Snapshot, Map<Channel, readonly LiveCredential[]>>();

function liveCredentials(channel: Channel, snapshot: Snapshot): readonly LiveCredential[] {
  let channels = pools.get(snapshot);
  if (channels === undefined) {
    channels = new Map();
    pools.set(snapshot, channels);
  }
  let live = channels.get(channel);
  if (live === undefined) {
    live = readLiveCredentials(channel, snapshot);
    channels.set(channel, live);
  }
  return live;
}

function readLiveCredentials(channel: Channel, snapshot: Snapshot): readonly LiveCredential[] {
  const live: LiveCredential[] = [];
  for (const { name, weight, state } of channel.credentials) {
    const credential = state === "Active" ? snapshot.credential(channel.namespace, channel.name, name) : undefined;
    if (credential !== undefined) live.push({ weight, credential });
  }
  return live;
}

/** Picks by weight; what has none only where nothing else is left: a credential, or a target that keeps a conversation. */
function weighted<T extends { readonly weight: number }>(members: readonly T[], random: () => number): T | undefined {
  if (members.length <= 1) return members[0];
  let total = 0;
  for (const member of members) total += member.weight;
  if (total === 0) return members[Math.floor(random() * members.length)];
  let point = random() * total;
  for (const member of members) {
    point -= member.weight;
    if (point < 0) return member;
  }
  return members.at(-1);
}
