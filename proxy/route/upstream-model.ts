/** Finds the name that a target's upstream knows a model by, and what the channel says of that model (PURE). */
import type { Capability, Channel, Route } from "#proxy/snapshot/types.gen";

/** A target of a route, with its channel. */
export interface ChannelTarget {
  readonly route: Route;
  readonly target: Route["targets"][number];
  readonly channel: Channel;
}

/**
 * An alias that the channel does not map itself is the route's model: it is a further name of the same.
 *
 * @param model public name as the client wrote it
 */
export function upstreamModelOf({ channel, route, target }: ChannelTarget, model: string): string {
  if (target.upstreamModel !== undefined) return target.upstreamModel;
  const entry = entryOf(channel, model);
  if (entry !== undefined) return upstreamName(entry, model);
  if (!isAlias(route, model)) return model;
  const ofRoute = entryOf(channel, route.model);
  return ofRoute === undefined ? route.model : upstreamName(ofRoute, route.model);
}

/** Whether the channel says that its model does not serve a capability; a model that it does not list serves any. */
export function lacksCapability({ channel, route }: ChannelTarget, model: string, capability: Capability): boolean {
  if (!namesCapabilities(channel)) return false;
  const entry = entryOf(channel, model) ?? (isAlias(route, model) ? entryOf(channel, route.model) : undefined);
  return entry?.capabilities !== undefined && !entry.capabilities.includes(capability);
}

/** A channel never changes, so whether any of its models names capabilities is found once. */
const channelsByNaming = new WeakMap<Channel, boolean>();

function namesCapabilities(channel: Channel): boolean {
  if (channel.models === undefined) return false;
  let isNaming = channelsByNaming.get(channel);
  if (isNaming === undefined) {
    isNaming = channel.models.some(({ capabilities }) => capabilities !== undefined);
    channelsByNaming.set(channel, isNaming);
  }
  return isNaming;
}

function isAlias(route: Route, model: string): boolean {
  return model !== route.model && route.aliases?.includes(model) === true && !route.model.includes("*");
}

type ModelEntry = NonNullable<Channel["models"]>[number];

/**
 * The channel's own mapping: exact name first, then the longest prefix.
 * @returns undefined for a name that the channel does not list
 */
function entryOf(channel: Channel, model: string): ModelEntry | undefined {
  let best: ModelEntry | undefined;
  for (const entry of channel.models ?? []) {
    if (entry.name === model) return entry;
    const isPrefix = entry.name.endsWith("*") && model.startsWith(entry.name.slice(0, -1));
    if (isPrefix && (best === undefined || entry.name.length > best.name.length)) best = entry;
  }
  return best;
}

/** A `*` in the upstream name keeps the rest. */
function upstreamName(entry: ModelEntry, model: string): string {
  if (entry.upstreamName === undefined) return model;
  if (!entry.name.endsWith("*")) return entry.upstreamName;
  const rest = model.slice(entry.name.length - 1);
  // A function, because a replacement given as text would read `$&` and the like in the client's name.
  return entry.upstreamName.replace("*", () => rest);
}
