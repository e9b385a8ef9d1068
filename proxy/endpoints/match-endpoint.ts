/**
 * Finds the endpoint for a method and a request target in a closed table of accepted strings, and refuses everything
 * else.
 *
 * Nothing is normalised: no case folding, no removal of dots, slashes or escapes, so that no two spellings of a path
 * can be read differently by different layers. Only the model in a path is decoded, once, and it never becomes part of
 * an upstream path unencoded. Base addresses are served with the version left out or doubled where official clients
 * produce that (docs/design/chat-completions.md 1, docs/design/messages.md 1 and docs/design/generate-content.md 1).
 * The query chooses nothing but `alt` of a Gemini-style stream; `?key=` is read by `authenticate/read-credential.ts`.
 *
 * `handle-request.ts` calls it first; it calls `protocolOfPath` even earlier, because the protocol decides how a
 * refusal looks.
 */
import { GatewayError } from "#proxy/errors";
import { queryValues } from "#proxy/http/query-values";
import { hasHeader, headerValues, type RawHeaders } from "#proxy/http1/wire/header-values";
import { defaultLimits } from "#proxy/limits";
import type { Protocol } from "#proxy/neutral/wire";
import type { Endpoint, FixedPath, ItemPathRule, Match, ModelPaths, RestPath, VerbPath } from "./endpoint.ts";
import { endpoints } from "./endpoints.ts";
import { describeServed } from "./served-paths.ts";

/** An endpoint and what the request asks of it. */
export interface MatchedEndpoint {
  readonly endpoint: Endpoint;
  readonly match: Match;
}

interface Fixed extends MatchedEndpoint {
  readonly path: FixedPath<Match>;
}

const served = describeServed(endpoints);

/** One object for each path, made once: nearly every request has one of these. */
const fixedPaths = new Map<string, Fixed>();
const socketPaths = new Map<string, MatchedEndpoint>();
const verbs = new Map<string, { readonly endpoint: Endpoint; readonly path: VerbPath<Match> }>();
const items: { readonly endpoint: Endpoint; readonly path: ItemPathRule<Match> }[] = [];
const rests: { readonly endpoint: Endpoint; readonly path: RestPath<Match> }[] = [];
let modelPaths: { readonly endpoint: Endpoint; readonly path: ModelPaths<Match> } | undefined;

for (const endpoint of endpoints) {
  for (const path of endpoint.paths) {
    if (path.kind === "verb") verbs.set(path.verb, { endpoint, path });
    else if (path.kind === "item") items.push({ endpoint, path });
    else if (path.kind === "rest") rests.push({ endpoint, path });
    else if (path.kind === "models") modelPaths = { endpoint, path };
    else if (path.kind === "socket")
      for (const spelling of [path.path, ...path.otherSpellings])
        socketPaths.set(spelling, { endpoint, match: path.match });
    else
      for (const spelling of [path.path, ...path.otherSpellings]) {
        fixedPaths.set(spelling, { endpoint, path, match: path.match });
      }
  }
}

/** Prefixes of the model paths; those with `beta` or `alpha` in them are Gemini-style whatever the headers say. */
const modelPrefixes: readonly { readonly prefix: string; readonly isShared: boolean; readonly takesVerbs: boolean }[] =
  [
    { prefix: "/models", isShared: true, takesVerbs: false },
    ...["/v1", "/v1beta", "/v1alpha"].flatMap((outer) =>
      ["", "/v1", "/v1beta", "/v1alpha"].map((inner) => ({
        prefix: `${outer}${inner}/models`,
        isShared: !`${outer}${inner}`.includes("a"),
        takesVerbs: true,
      })),
    ),
  ];

/** Verbs of Gemini-style paths, served or not: they decide the shape of the refusal and tell verbs from model names. */
const knownVerbs = new Set([
  ...verbs.keys(),
  "embedContent",
  "batchEmbedContents",
  "asyncBatchEmbedContent",
  "batchGenerateContent",
  "predict",
  "predictLongRunning",
]);

interface ModelPath {
  readonly isShared: boolean;
  /** Raw text behind `/models/`; undefined for the list. */
  readonly rest: string | undefined;
  /** The part of `rest` behind its last colon, when it is a known verb. */
  readonly verb: string | undefined;
}

/**
 * @param rawUrl the request target as received
 * @throws GatewayError `unknown_url`, `method_not_allowed` (with `allow`), `upgrade_required`, `bad_request_target`, `target_too_long`,
 *   `invalid_value` (`alt`)
 */
export function matchEndpoint(
  method: string,
  rawUrl: string,
  headers: RawHeaders,
  targetBytesMax: number = defaultLimits.targetBytesMax,
): MatchedEndpoint {
  if (method === "POST") {
    const known = fixedPaths.get(rawUrl);
    if (known !== undefined) return known;
  }
  if (rawUrl.length > targetBytesMax) {
    throw new GatewayError("target_too_long", `The request target is longer than ${targetBytesMax} bytes.`);
  }
  if (method === "OPTIONS" || method === "TRACE" || method === "CONNECT") throw methodNotAllowed("GET, POST");
  refuseForeignForms(rawUrl);
  const path = pathOf(rawUrl);
  const fixed = fixedPaths.get(path);
  if (fixed !== undefined) return matchFixed(fixed, method, headers);
  const socket = socketPaths.get(path);
  if (socket !== undefined) {
    if (method !== "GET") throw methodNotAllowed("GET");
    return socket;
  }
  const item = matchItem(method, path);
  if (item !== undefined) return item;
  const rest = matchRest(method, path, rawUrl);
  if (rest !== undefined) return rest;
  const modelPath = readModelPath(path);
  if (modelPath === undefined) throw unknownUrl();
  if (modelPath.verb !== undefined) return matchVerb(method, rawUrl, modelPath.rest ?? "", modelPath.verb);
  return matchModels(method, rawUrl, headers, modelPath);
}

function matchFixed(fixed: Fixed, method: string, headers: RawHeaders): MatchedEndpoint {
  if (method === "POST") return fixed;
  const { webSocketRefusal } = fixed.path;
  if (method === "GET" && webSocketRefusal !== undefined && asksForWebSocket(headers)) {
    throw new GatewayError("upgrade_required", webSocketRefusal, { allow: "POST" });
  }
  throw methodNotAllowed("POST");
}

function matchItem(method: string, path: string): MatchedEndpoint | undefined {
  for (const { endpoint, path: item } of items) {
    const id = item.pattern.exec(path)?.[1];
    if (id === undefined) continue;
    const { methods } = item;
    const match = method === "GET" || method === "DELETE" ? methods[method]?.(id) : undefined;
    if (match === undefined) throw methodNotAllowed(Object.keys(methods).join(", "));
    return { endpoint, match };
  }
  return undefined;
}

function matchRest(method: string, path: string, rawUrl: string): MatchedEndpoint | undefined {
  for (const { endpoint, path: rule } of rests) {
    const [, model, rest] = rule.pattern.exec(path) ?? [];
    if (model === undefined || rest === undefined) continue;
    if (!rule.methods.includes(method)) throw methodNotAllowed(rule.methods.join(", "));
    return { endpoint, match: rule.match(method, model, rest, rawUrl) };
  }
  return undefined;
}

/**
 * Whose error shape a request gets; never throws, whatever the target holds (docs/design/errors.md 4).
 */
export function protocolOfPath(rawUrl: string, headers: RawHeaders): Protocol {
  const path = pathOf(rawUrl);
  const fixed = fixedPaths.get(path);
  if (fixed !== undefined) return fixed.match.protocol;
  const socket = socketPaths.get(path);
  if (socket !== undefined) return socket.match.protocol;
  if (/^\/(?:v1\/)?v1(?:beta|alpha)(?:\/|$)/.test(path)) return "Gemini";
  if (/^\/(?:v1\/){1,2}messages(?:\/|$)/.test(path)) return "Anthropic";
  const modelPath = readModelPath(path);
  if (modelPath === undefined) return "OpenAI";
  if (!modelPath.isShared || modelPath.verb !== undefined) return "Gemini";
  return protocolOfHeaders(rawUrl, headers);
}

function pathOf(rawUrl: string): string {
  const query = rawUrl.indexOf("?");
  return query < 0 ? rawUrl : rawUrl.slice(0, query);
}

function refuseForeignForms(rawUrl: string): void {
  const isOriginForm = rawUrl.startsWith("/") && !rawUrl.startsWith("//");
  if (!isOriginForm) {
    throw new GatewayError(
      "bad_request_target",
      "The request target must begin with a single slash: send the path only.",
    );
  }
  if (!/^[!$-[\]^_`a-z{|}~"]*$/.test(rawUrl)) {
    throw new GatewayError(
      "bad_request_target",
      "The request target holds a fragment, a backslash, a control character, a space or a character beyond ASCII.",
    );
  }
}

function readModelPath(path: string): ModelPath | undefined {
  for (const { prefix, isShared, takesVerbs } of modelPrefixes) {
    if (!path.startsWith(prefix)) continue;
    if (path.length === prefix.length) return { isShared, rest: undefined, verb: undefined };
    if (path[prefix.length] !== "/" || path.length === prefix.length + 1) continue;
    const rest = path.slice(prefix.length + 1);
    const verb = rest.slice(rest.lastIndexOf(":") + 1);
    const isVerb = takesVerbs && verb.length < rest.length && knownVerbs.has(verb);
    return { isShared, rest, verb: isVerb ? verb : undefined };
  }
  return undefined;
}

function matchVerb(method: string, rawUrl: string, rest: string, verb: string): MatchedEndpoint {
  const served = verbs.get(verb);
  if (served === undefined) throw unknownUrl();
  if (method !== "POST") throw methodNotAllowed("POST");
  const modelInPath = decodeModel(rest.slice(0, -verb.length - 1));
  return { endpoint: served.endpoint, match: served.path.match(modelInPath, rawUrl) };
}

function matchModels(method: string, rawUrl: string, headers: RawHeaders, modelPath: ModelPath): MatchedEndpoint {
  const { rest, isShared } = modelPath;
  if (modelPaths === undefined) throw unknownUrl();
  if (method !== "GET") {
    // A verb that nobody knows is another path; without one, the path is right and the method wrong.
    if (method === "POST" && rest?.includes(":")) throw unknownUrl();
    throw methodNotAllowed("GET");
  }
  const { endpoint, path } = modelPaths;
  const protocol = isShared ? protocolOfHeaders(rawUrl, headers) : "Gemini";
  return { endpoint, match: rest === undefined ? path.list(protocol) : path.one(protocol, decodeModel(rest)) };
}

/** Decodes the model of a path once and takes off a `models/` prefix. */
function decodeModel(raw: string): string {
  let decoded: string;
  try {
    decoded = decodeURIComponent(raw);
  } catch {
    throw new GatewayError("bad_request_target", "The model in the path holds an escape that is not UTF-8.");
  }
  if (/[\u0000-\u0020\u007f\\]/.test(decoded)) {
    throw new GatewayError(
      "bad_request_target",
      "The model in the path holds a control character, a space or a backslash.",
    );
  }
  const model = decoded.startsWith("models/") ? decoded.slice("models/".length) : decoded;
  const hasForeignSegment = model.split("/").some((segment) => segment === "" || segment === "." || segment === "..");
  if (hasForeignSegment) throw unknownUrl();
  return model;
}

/** `GET /v1/models` serves three protocols (docs/design/interface.md 6). */
function protocolOfHeaders(rawUrl: string, headers: RawHeaders): Protocol {
  const isGemini =
    hasHeader(headers, "x-goog-api-key") ||
    hasHeader(headers, "x-vendorc-api-key") ||
    hasHeader(headers, "x-goog-api-client") ||
    queryValues(rawUrl, "key").length > 0;
  if (isGemini) return "Gemini";
  const isAnthropic =
    hasHeader(headers, "anthropic-version") || hasHeader(headers, "vendorb-version") || hasHeader(headers, "x-api-key");
  return isAnthropic ? "Anthropic" : "OpenAI";
}

function unknownUrl(): GatewayError {
  return new GatewayError("unknown_url", `Unknown request URL. Served are ${served}. Check the base address.`);
}

function asksForWebSocket(headers: RawHeaders): boolean {
  return headerValues(headers, "upgrade").some((value) => /(?:^|,)\s*websocket(?:\/[^,]*)?\s*(?:,|$)/i.test(value));
}

function methodNotAllowed(allow: string): GatewayError {
  return new GatewayError("method_not_allowed", `This method is not allowed here; use ${allow}.`, { allow });
}
