/**
 * Builds the request for one target: its path, its credential, its headers, and the client's body with the edits that
 * this channel needs. No byte of the client's URL and no header outside the allow-list goes upstream.
 */

import type { ChatCall, UpstreamFormat, UpstreamPlan } from "#proxy/formats/format";
import { BodyEditor } from "#proxy/json/body-editor";
import type { ProxyLimits } from "#proxy/limits";
import type { Channel, Credential, Route } from "#proxy/snapshot/types.gen";
import type { UpstreamRequest, UpstreamTimeouts } from "#proxy/upstream/upstream-exchange";
import { requestHeaders } from "./request-headers.ts";
import { upstreamPath } from "./upstream-path.ts";

export interface UpstreamTarget {
  readonly route: Route;
  readonly target: Route["targets"][number];
  readonly channel: Channel;
  readonly credential: Credential | undefined;
  /** Path template of the format on this channel. */
  readonly path: string;
}

/** What is edited in the body besides what channel and target say. */
export type CallEdits = Pick<UpstreamPlan, "outputCap" | "unsupported" | "clientsName">;

export interface BuiltRequest extends UpstreamRequest {
  /** Fields of the client's that the provider does not support and that were left out. */
  readonly dropped: readonly string[];
}

/**
 * @param clientHeaders already reduced to what may go upstream, names in lower case
 * @throws GatewayError for a body or model name that this channel must not get
 */
export function buildUpstreamRequest(
  format: UpstreamFormat,
  call: ChatCall,
  upstream: UpstreamTarget,
  clientHeaders: Readonly<Record<string, string>>,
  edits: CallEdits,
  limits: ProxyLimits,
): BuiltRequest {
  const { channel, route, target } = upstream;
  const upstreamModel = upstreamModelOf(upstream, call.model);
  const editor = new BodyEditor(call.body);
  const { outputCap, unsupported, clientsName } = edits;
  const targetRules = target.parameters;
  const plan: UpstreamPlan = { channel, upstreamModel, targetRules, outputCap, unsupported, clientsName };
  const dropped = format.editBody(call, plan, editor);
  const verb = call.stream ? "streamGenerateContent" : "generateContent";
  const query = call.endpoint.format === "GenerateContent" && call.stream ? "alt=sse" : "";
  const kind = call.stream ? "stream" : "call";
  const { fixedHeaders, headers } = requestHeaders(kind, channel, upstream.credential, clientHeaders);
  return {
    path: upstreamPath(upstream, upstream.path, upstreamModel, verb, query),
    fixedHeaders,
    headers,
    body: editor.build(),
    connectTimeoutMs: connectTimeoutOf(route, channel, limits),
    dropped,
    timeouts: timeoutsOf(route, channel, call.stream, limits),
  };
}

/**
 * The name that a target's upstream knows a model by.
 *
 * An alias that the channel does not map itself is the route's model: it is a further name of the same.
 *
 * @param model public name as the client wrote it
 */
export function upstreamModelOf(
  { channel, route, target }: Pick<UpstreamTarget, "channel" | "route" | "target">,
  model: string,
): string {
  if (target.upstreamModel !== undefined) return target.upstreamModel;
  const isAlias = model !== route.model && route.aliases?.includes(model) === true && !route.model.includes("*");
  return mappedModel(channel, model) ?? (isAlias ? (mappedModel(channel, route.model) ?? route.model) : model);
}

/**
 * The channel's own mapping: exact name first, then the longest prefix; a `*` in the upstream name keeps the rest.
 *
 * @returns undefined for a name that the channel does not list
 */
function mappedModel(channel: Channel, model: string): string | undefined {
  let best: { readonly name: string; readonly upstreamName?: string } | undefined;
  for (const entry of channel.models ?? []) {
    if (entry.name === model) {
      best = entry;
      break;
    }
    const isPrefix = entry.name.endsWith("*") && model.startsWith(entry.name.slice(0, -1));
    if (isPrefix && (best === undefined || entry.name.length > best.name.length)) best = entry;
  }
  if (best === undefined) return undefined;
  if (best.upstreamName === undefined) return model;
  if (!best.name.endsWith("*")) return best.upstreamName;
  const rest = model.slice(best.name.length - 1);
  // A function, because a replacement given as text would read `$&` and the like in the client's name.
  return best.upstreamName.replace("*", () => rest);
}

/**
 * A request without a body for what a channel keeps; nothing of the client's goes upstream but a checked path.
 * @param path whole, as `upstreamPath` says it
 */
export function buildPlainRequest(
  method: "GET" | "DELETE",
  path: string,
  { channel, credential, route }: Pick<UpstreamTarget, "channel" | "credential" | "route">,
  limits: ProxyLimits,
): UpstreamRequest {
  return {
    method,
    path,
    ...requestHeaders("plain", channel, credential, {}),
    body: Buffer.alloc(0),
    connectTimeoutMs: connectTimeoutOf(route, channel, limits),
    timeouts: timeoutsOf(route, channel, false, limits),
  };
}

/**
 * The handshake of a WebSocket (RFC 6455); its own fields are added by who opens it.
 * @param query what is asked by query, encoded
 * @param clientHeaders already reduced to what may go upstream, names in lower case
 * @throws GatewayError for a model name that cannot be in a path
 */
export function buildSocketRequest(
  upstream: UpstreamTarget,
  upstreamModel: string,
  query: string,
  clientHeaders: Readonly<Record<string, string>>,
  limits: ProxyLimits,
): UpstreamRequest {
  const { channel, credential, route, path } = upstream;
  return {
    method: "GET",
    path: upstreamPath(upstream, path, upstreamModel, "", query),
    ...requestHeaders("socket", channel, credential, clientHeaders),
    body: Buffer.alloc(0),
    connectTimeoutMs: connectTimeoutOf(route, channel, limits),
    timeouts: timeoutsOf(route, channel, true, limits),
  };
}

/** The narrower of route and channel wins; 0 switches a timeout off and is the widest. */
function timeoutsOf(route: Route, channel: Channel, isStream: boolean, limits: ProxyLimits): UpstreamTimeouts {
  const firstByteMs = isStream ? limits.firstByteStreamTimeoutMs : limits.firstByteTimeoutMs;
  return {
    firstByteMs: narrower(route.timeouts?.firstByteMs, channel.timeouts.firstByteMs) ?? firstByteMs,
    idleMs: narrower(route.timeouts?.streamIdleMs, channel.timeouts.streamIdleMs) ?? limits.streamIdleTimeoutMs,
    totalMs: narrower(route.timeouts?.totalMs, channel.timeouts.totalMs) ?? limits.totalTimeoutMs,
  };
}

function connectTimeoutOf(route: Route, channel: Channel, limits: ProxyLimits): number {
  return narrower(route.timeouts?.connectMs, channel.timeouts.connectMs) ?? limits.connectTimeoutMs;
}

function narrower(first: number | undefined, second: number | undefined): number | undefined {
  if (first === undefined || second === undefined) return first ?? second;
  if (first === 0 || second === 0) return Math.max(first, second);
  return Math.min(first, second);
}
