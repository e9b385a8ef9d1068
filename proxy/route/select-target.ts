/**
 * Chooses the next upstream for a call: priority first, then weight, never one that was tried (PURE).
 *
 * A target counts only if its channel is active, speaks the client's format natively and has a live credential (or
 * needs none). The caller brings the random number, so that a choice can be replayed.
 */
import type { ChatWireFormat } from "../protocols/wire.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import type { Channel, Credential, Route } from "../snapshot/types.gen.ts";

export type RouteTarget = Route["targets"][number];

export interface SelectedTarget {
  readonly target: RouteTarget;
  readonly channel: Channel;
  /** Undefined for a channel that needs none (a server inside the cluster). */
  readonly credential: Credential | undefined;
  /** Path template of the format on this channel. */
  readonly path: string;
}

export interface SelectionRequest {
  readonly route: Route;
  readonly format: ChatWireFormat;
  readonly snapshot: Snapshot;
  /** Names of targets that this call has tried or skipped. */
  readonly excluded: ReadonlySet<string>;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

/** @returns undefined when no usable target is left. */
export function selectTarget(request: SelectionRequest): SelectedTarget | undefined {
  let tier: RouteTarget[] = [];
  let tierPriority = Number.POSITIVE_INFINITY;
  for (const target of request.route.targets) {
    if (target.priority > tierPriority || request.excluded.has(target.name) || !isUsable(target, request)) continue;
    if (target.priority < tierPriority) {
      tierPriority = target.priority;
      tier = [];
    }
    tier.push(target);
  }
  const target = weighted(tier, request.random);
  return target === undefined ? undefined : resolve(target, request);
}

/** Whether any target could ever serve this format, tried or not: tells "wrong endpoint" from "nothing left". */
export function speaksFormat(route: Route, format: ChatWireFormat, snapshot: Snapshot): boolean {
  return route.targets.some((target) => formatPath(snapshot.channel(target.channel), format) !== undefined);
}

function isUsable(target: RouteTarget, request: SelectionRequest): boolean {
  const channel = request.snapshot.channel(target.channel);
  if (channel === undefined || channel.state !== "Active" || formatPath(channel, request.format) === undefined)
    return false;
  return channel.credentials.length === 0 || liveCredentials(channel, request.snapshot).length > 0;
}

function resolve(target: RouteTarget, request: SelectionRequest): SelectedTarget | undefined {
  const channel = request.snapshot.channel(target.channel);
  const path = formatPath(channel, request.format);
  if (channel === undefined || path === undefined) return undefined;
  if (channel.credentials.length === 0) return { target, channel, credential: undefined, path };
  const chosen = weighted(liveCredentials(channel, request.snapshot), request.random);
  return chosen === undefined ? undefined : { target, channel, credential: chosen.credential, path };
}

function formatPath(channel: Channel | undefined, format: ChatWireFormat): string | undefined {
  return channel?.formats.find((entry) => entry.type === format)?.path;
}

interface LiveCredential {
  readonly weight: number;
  readonly credential: Credential;
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

/** Picks by weight; members of weight 0 only when no other is left. */
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
