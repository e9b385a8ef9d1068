/**
 * Builds the request for one target: its path, its credential, its headers, and the client's body with the edits that
 * this channel needs. No byte of the client's URL and no header outside the allow-list goes upstream.
 */

import type { ChatCall, UpstreamFormat, UpstreamPlan } from "#proxy/formats/format";
import type { StreamedBody } from "#proxy/http1/client/upstream";
import { BodyEditor } from "#proxy/json/body-editor";
import type { ProxyLimits } from "#proxy/limits";
import { upstreamModelOf } from "#proxy/route/upstream-model";
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

export interface BuiltRequest extends UpstreamRequest<Buffer> {
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

/** What a call that is no chat becomes for one upstream. */
export interface WrittenRequest {
  readonly body: Buffer | StreamedBody;
  /** Of the body; JSON when absent. */
  readonly contentType?: string | undefined;
  /** Whether the upstream is asked for a stream; as the client asks when absent. */
  readonly isStream?: boolean;
  /** Gemini-style only: the verb of the path. */
  readonly verb?: string | undefined;
  /** Added to the path's query, encoded. */
  readonly query?: string | undefined;
  /** Bytes of any kind; absent: events where a stream is asked for, else JSON. */
  readonly accepts?: "bytes" | undefined;
}

/** The request for a call that its endpoint has written. @param clientHeaders as of `buildUpstreamRequest` */
export function buildWrittenRequest(
  written: WrittenRequest,
  asksForStream: boolean,
  upstream: UpstreamTarget,
  upstreamModel: string,
  { clientHeaders, limits }: { readonly clientHeaders: Readonly<Record<string, string>>; readonly limits: ProxyLimits },
): UpstreamRequest {
  const { channel, route, credential, path } = upstream;
  const { contentType, isStream = asksForStream } = written;
  const accepted = written.accepts ?? (isStream ? "stream" : "call");
  const kind = contentType === undefined ? accepted : (`form-${accepted}` as const);
  const { fixedHeaders, headers } = requestHeaders(kind, channel, credential, clientHeaders);
  return {
    path: upstreamPath(upstream, path, upstreamModel, written.verb ?? "", written.query),
    fixedHeaders,
    headers: contentType === undefined ? headers : [...headers, "content-type", contentType],
    body: written.body,
    connectTimeoutMs: connectTimeoutOf(route, channel, limits),
    timeouts: timeoutsOf(route, channel, isStream, limits),
  };
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

/** A call that is passed on as it is. */
export interface OpaqueRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below the channel's base address: checked against the paths that it names. */
  readonly path: string;
  /** Checked; may be empty. */
  readonly query: string;
  readonly body: Buffer;
}

/** The request for a call that is passed on. @param clientHeaders as of `buildUpstreamRequest` */
export function buildOpaqueRequest(
  { method, path, query, body }: OpaqueRequest,
  { channel, credential, route }: Pick<UpstreamTarget, "channel" | "credential" | "route">,
  clientHeaders: Readonly<Record<string, string>>,
  limits: ProxyLimits,
): UpstreamRequest {
  return {
    method: method === "POST" ? undefined : method,
    path: upstreamPath({ channel, credential }, path, "", "", query),
    ...requestHeaders("opaque", channel, credential, clientHeaders),
    body,
    connectTimeoutMs: connectTimeoutOf(route, channel, limits),
    timeouts: timeoutsOf(route, channel, false, limits),
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
