/**
 * Replaces the references of a call to earlier responses by their conversation, so that any provider can serve the call
 * (docs/design/responses.md 7).
 *
 * `handle-request.ts` calls it before the call is estimated, so that the reservation covers the whole conversation.
 * Nearly all calls have no references and pass at once.
 */
import type { AuthorizedCall, AuthorizedChat, CallReferences } from "#proxy/dispatch/admitted-call";
import { GatewayError } from "#proxy/errors";
import type { ChatCall, ClientFormat } from "#proxy/formats/format";
import { jsonText, parseJsonText } from "#proxy/json/json-text";
import { isObject, type JsonObject } from "#proxy/json/json-value";
import { scanWrittenObject } from "#proxy/json/strict-json";
import type { ProxyLimits } from "#proxy/limits";
import { type Resolution, resolveReferences } from "#proxy/responses-state/resolve-references";
import type { ResponseReader } from "#proxy/responses-state/response-store";
import type { FoundKey } from "#proxy/snapshot/snapshot";

export interface ResolvedCall {
  readonly call: ChatCall;
  readonly references: CallReferences | undefined;
}

export interface Resolving {
  /** As the caller's key may use them. */
  readonly responses: ResponseReader;
  readonly limits: Pick<ProxyLimits, "jsonBodyBytesMax" | "jsonDepthMax" | "jsonKeysMax">;
}

/** Paths of `ChatCall.upstreamObjects` that responses are referred to by. */
const referencePath = /^(?:previous_response_id|input(?:\[\d+\])?\.id)$/;

/** Whom a key's responses belong to. */
export function ownerOf({ key }: Pick<FoundKey, "key">): string {
  return `${key.namespace}/${key.name}`;
}

/** Whether a call goes on from earlier responses: only those of the Responses format can. */
export function hasReferences(authorized: AuthorizedCall): authorized is AuthorizedChat {
  const { call } = authorized;
  return call.endpoint.format === "Responses" && call.upstreamObjects.some((path) => referencePath.test(path));
}

/** @throws GatewayError `previous_response_not_found`, `context_length` for a conversation over the size of a body */
export async function resolveCall(
  call: ChatCall,
  format: ClientFormat,
  owner: string,
  { responses, limits }: Resolving,
): Promise<ResolvedCall> {
  const asSent = parseJsonText(call.body.bytes.toString("utf8"));
  if (!isObject(asSent)) throw new TypeError("a scanned body is an object");
  const resolution = await resolveReferences(asSent, owner, responses, limits.jsonBodyBytesMax);
  const { body, affinity } = resolution;
  const resolved = body === asSent ? call : readResolved(body, call, format, limits);
  // What stays and was found is the one channel's own. Everything else is judged for each channel.
  const staying = new Set(resolution.staying);
  const upstreamObjects = resolved.upstreamObjects.filter((path) => !staying.has(path));
  const unknown = unknownPaths(call, upstreamObjects, resolution);
  return { call: { ...resolved, upstreamObjects }, references: { asSent, affinity, unknown } };
}

/**
 * What was not found, and what only the reader of scanned bodies takes for a reference: nobody looked that up, so it may
 * be another tenant's.
 * @param left references in the body that goes on
 */
function unknownPaths(call: ChatCall, left: readonly string[], { unknown, found }: Resolution): readonly string[] {
  const known = new Set([...unknown, ...found]);
  const missed = call.upstreamObjects.filter((path) => referencePath.test(path) && !known.has(path));
  const all = [...unknown, ...missed];
  // The items of an earlier turn have no path that the client would know.
  return all.length === 0 && left.some((path) => referencePath.test(path)) ? ["input"] : all;
}

function readResolved(body: JsonObject, call: ChatCall, format: ClientFormat, limits: Resolving["limits"]): ChatCall {
  const bytes = Buffer.from(jsonText(body));
  const tooLong = (cause?: GatewayError): GatewayError =>
    new GatewayError("context_length", "The earlier conversation of this call is too long.", {
      param: "previous_response_id",
      cause,
    });
  if (bytes.length > limits.jsonBodyBytesMax) throw tooLong();
  // Every turn was within the limit on keys; together they may be beyond it.
  const options = { depthMax: limits.jsonDepthMax + 8, keysMax: limits.jsonKeysMax * 16, watch: format.watchedKeys };
  return format.readCall(scanWrittenObject(bytes, options, tooLong), call.endpoint);
}

/** Why a channel must not get a call whose references nobody knows. */
export function unknownReference({ unknown, asSent }: CallReferences): GatewayError | undefined {
  const [param] = unknown;
  if (param === undefined) return undefined;
  const id = asSent["previous_response_id"];
  const isResponse = param === "previous_response_id";
  const name = isResponse && typeof id === "string" && /^[\w.-]{1,128}$/.test(id) ? ` with id '${id}'` : "";
  const message = isResponse
    ? `Previous response${name} not found.`
    : `The item that '${param}' refers to was not found.`;
  return new GatewayError("previous_response_not_found", message, { param });
}
