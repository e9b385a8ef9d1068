/**
 * Reads a call that is passed on as it is: what its path and query say. Its body is nobody's business here.
 *
 * The path is held against those that channels name (`allowed-paths.ts`), so that no spelling gets by: nothing is decoded
 * or normalised. The query goes on name by name: what could be a key of somebody stays behind.
 */
import { GatewayError } from "#proxy/errors";
import type { ModelCall } from "#proxy/formats/model-call";
import type { CallPath } from "#proxy/neutral/wire";
import type { OpaqueRequest } from "#proxy/upstream/request/build-upstream-request";

type Method = OpaqueRequest["method"];

export const methods: readonly Method[] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/** What the request line says. */
export interface PassThroughMatch extends CallPath {
  readonly method: Method;
  /** Public name of the route. */
  readonly model: string;
  /** Behind the name; begins with a slash. */
  readonly path: string;
  /** As received, without the question mark; may be empty. */
  readonly rawQuery: string;
}

export interface PassThroughCall extends ModelCall {
  readonly endpoint: PassThroughMatch;
  readonly bytes: Buffer;
  /** Pairs of the query that have the form of one, as received. */
  readonly query: readonly string[];
}

/** @throws GatewayError `bad_request_target` for a path with escapes, dot segments or empty segments */
export function matchPassThrough(method: string, model: string, rest: string, rawUrl: string): PassThroughMatch {
  const known = methods.find((name) => name === method);
  if (known === undefined) throw new TypeError(`${method} is no method that is passed on`);
  if (!isPlainPath(rest)) {
    throw new GatewayError(
      "bad_request_target",
      "The path that is passed on must be plain: no escapes, no empty segments, no '.' or '..'.",
    );
  }
  const query = rawUrl.indexOf("?");
  return {
    protocol: "OpenAI",
    format: "Passthrough",
    capability: "Passthrough",
    method: known,
    model,
    path: rest,
    rawQuery: query < 0 ? "" : rawUrl.slice(query + 1),
  };
}

function isPlainPath(path: string): boolean {
  return !path.includes("%") && !/\/(?:\.{0,2})(?:\/|$)/.test(path);
}

/** @throws GatewayError `invalid_value` for a query that is none */
export function readPassThrough(bytes: Buffer, match: PassThroughMatch): PassThroughCall {
  return {
    endpoint: match,
    model: match.model,
    stream: false,
    upstreamObjects: [],
    bytes,
    query: readPairs(match.rawQuery),
  };
}

/**
 * A name is not decoded, so that `%6bey` cannot be the `key` of somebody who decodes it; brackets are written so by SDKs.
 * Nor does a value hold a bare `;`, which some programs read as `&`.
 */
const pairForm = /^(?:[\w.[\]~-]|%5[BbDd]){1,64}(?:=(?:[\w.~:@,/+=*'()!$[\]{}|"^`-]|%[0-9A-Fa-f]{2})*)?$/;

function readPairs(rawQuery: string): readonly string[] {
  const pairs = rawQuery.split("&").filter((pair) => pair !== "");
  if (pairs.every((pair) => pairForm.test(pair))) return pairs;
  throw new GatewayError(
    "invalid_value",
    "The query must be pairs of name=value, joined by '&'; only brackets may be escaped in a name.",
    { param: "query" },
  );
}

/** Under these names upstreams look for credentials. */
const credentialNames: ReadonlySet<string> = new Set([
  "key",
  "api_key",
  "api-key",
  "apikey",
  "x-api-key",
  "access_token",
  "access-token",
  "auth",
  "authorization",
  "subscription-key",
  "token",
]);

/**
 * The query that goes upstream: without what could choose another credential than the channel's, and without the
 * client's own key, wherever it stands.
 * @param authName where the channel's own credential stands in the query; undefined: elsewhere
 */
export function passedQuery(pairs: readonly string[], secret: string, authName: string | undefined): string {
  const kept = pairs.filter((pair) => {
    const name = (pair.split("=", 1)[0] ?? "").toLowerCase();
    if (credentialNames.has(name) || name === authName?.toLowerCase()) return false;
    return !pair.includes(secret) && !decoded(pair).includes(secret);
  });
  return kept.join("&");
}

function decoded(pair: string): string {
  try {
    return decodeURIComponent(pair);
  } catch {
    return pair;
  }
}
