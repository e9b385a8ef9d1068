/**
 * Chooses the next target for a call: priority first, then weight, never one that was tried (PURE).
 *
 * A target counts only if it has a weight and its channel is active, speaks a chat format and has a live credential
 * (or needs none). The client's own format is preferred on each channel; where the channel does not speak it, the call
 * is translated to the format that keeps most of it. The caller brings the random number, so that a choice can be
 * replayed.
 */
import type { ChatWireFormat } from "#proxy/neutral/wire";
import type { Snapshot } from "#proxy/snapshot/snapshot";
import type { Channel, Credential, Route } from "#proxy/snapshot/types.gen";
import type { AttemptHistory } from "./attempt-history.ts";

export type RouteTarget = Route["targets"][number];

export interface SelectedTarget {
  readonly target: RouteTarget;
  readonly channel: Channel;
  /** Undefined for a channel that needs none (a server inside the cluster). */
  readonly credential: Credential | undefined;
  /** Spoken with the upstream: the client's own where the channel has it. */
  readonly format: ChatWireFormat;
  /** Path template of that format on this channel. */
  readonly path: string;
}

export interface SelectionRequest {
  readonly route: Route;
  readonly format: ChatWireFormat;
  readonly snapshot: Snapshot;
  readonly tried: AttemptHistory;
  /** The one channel, and its credential, that keep what the call refers to. */
  readonly affinity?: { readonly channel: string; readonly credential: string | undefined } | undefined;
  /** Whether the call is better said in Responses than in chat completions; never when absent. */
  readonly asksInResponses?: ((target: RouteTarget, channel: Channel) => boolean) | undefined;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

/** @returns undefined when no usable target is left. */
export function selectTarget(request: SelectionRequest): SelectedTarget | undefined {
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
  const { snapshot, format, affinity, tried } = request;
  // A share of 0 is one of new calls: a conversation that is kept there goes on.
  if (affinity !== undefined)
    return obstacleOfChannel(target, format, snapshot) === undefined && isBound(target, affinity, request);
  if (obstacleOf(target, format, snapshot) !== undefined) return false;
  const channel = snapshot.channel(target.channel);
  if (channel === undefined || channel.credentials.length === 0 || !tried.hasCredentials) return true;
  return untriedCredentials(target, channel, request).length > 0;
}

/** Why a target takes no new calls of this format now, for people; undefined when it takes them. */
export function obstacleOf(target: RouteTarget, format: ChatWireFormat, snapshot: Snapshot): string | undefined {
  return target.weight === 0 ? "its weight is 0" : obstacleOfChannel(target, format, snapshot);
}

function obstacleOfChannel(target: RouteTarget, format: ChatWireFormat, snapshot: Snapshot): string | undefined {
  const channel = snapshot.channel(target.channel);
  if (channel === undefined) return "the channel is not in the configuration";
  if (channel.state !== "Active") return `the channel is ${channel.state}`;
  if (spokenFormat(channel, format) === undefined) return "the channel speaks no chat format";
  if (channel.credentials.length === 0 || liveCredentials(channel, snapshot).length > 0) return undefined;
  return "the channel has no live credential";
}

/** What a provider keeps is for its own account alone, and only in its own format. */
function isBound(
  target: RouteTarget,
  affinity: NonNullable<SelectionRequest["affinity"]>,
  { snapshot, format, tried }: SelectionRequest,
): boolean {
  const channel = snapshot.channel(target.channel);
  if (channel === undefined || target.channel !== affinity.channel) return false;
  if (spokenFormat(channel, format)?.format !== format) return false;
  if (affinity.credential === undefined) return channel.credentials.length === 0;
  if (tried.hasCredential(target.name, affinity.credential)) return false;
  return boundCredential(channel, affinity.credential, snapshot) !== undefined;
}

function boundCredential(channel: Channel, name: string, snapshot: Snapshot): Credential | undefined {
  return liveCredentials(channel, snapshot).find(({ credential }) => credential.name === name)?.credential;
}

function resolve(target: RouteTarget, request: SelectionRequest): SelectedTarget | undefined {
  const channel = request.snapshot.channel(target.channel);
  if (channel === undefined) return undefined;
  const spoken = spokenFormat(channel, request.format, request.asksInResponses?.(target, channel));
  if (spoken === undefined) return undefined;
  const { format, path } = spoken;
  if (channel.credentials.length === 0) return { target, channel, credential: undefined, format, path };
  const bound = request.affinity?.credential;
  if (bound !== undefined) {
    return { target, channel, credential: boundCredential(channel, bound, request.snapshot), format, path };
  }
  const chosen = weighted(untriedCredentials(target, channel, request), request.random);
  return chosen === undefined ? undefined : { target, channel, credential: chosen.credential, format, path };
}

/** Where a client's format is not spoken: the others, those first that can say most of what it says. */
const nearest: Readonly<Record<ChatWireFormat, readonly ChatWireFormat[]>> = {
  ChatCompletions: ["ChatCompletions", "Responses", "GenerateContent", "Messages"],
  Responses: ["Responses", "ChatCompletions", "Messages", "GenerateContent"],
  // Reasoning state comes back through Responses, and is lost in chat completions.
  Messages: ["Messages", "Responses", "ChatCompletions", "GenerateContent"],
  GenerateContent: ["GenerateContent", "ChatCompletions", "Responses", "Messages"],
};

/** Of generateContent, for models that think and call in Responses alone. */
const nearestInResponses: readonly ChatWireFormat[] = ["GenerateContent", "Responses", "ChatCompletions", "Messages"];

export interface SpokenFormat {
  readonly format: ChatWireFormat;
  /** Path template of the format on the channel. */
  readonly path: string;
}

/**
 * The format in which a channel is spoken to for a client of this format; undefined when it speaks no chat format.
 * @param asksInResponses the call is better said in Responses than in chat completions
 */
export function spokenFormat(
  channel: Channel,
  clientFormat: ChatWireFormat,
  asksInResponses = false,
): SpokenFormat | undefined {
  const isMoved = asksInResponses && clientFormat === "GenerateContent";
  for (const format of isMoved ? nearestInResponses : nearest[clientFormat]) {
    for (const { type, path } of channel.formats) if (type === format) return { format, path };
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

/** Picks by weight; a credential of weight 0 only when no other is left, targets of weight 0 do not come here. */
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
