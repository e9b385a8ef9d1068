/**
 * Which endpoint a method and a request target mean: a closed table of accepted strings, everything else is refused.
 *
 * Nothing is normalised: no case folding, no removal of dots, slashes or escapes, so that no two spellings of a path
 * can be read differently by different layers. Only the model in a path is decoded, once, and it never becomes part of
 * an upstream path unencoded. Base addresses are served with the version left out or doubled where official clients
 * produce that (`protocols/openai-chat.md`, `anthropic-messages.md` and `gemini.md`, sections 1). The query chooses
 * nothing but `alt` of a Gemini-style stream; `?key=` is read by `authenticate/read-credential.ts`.
 *
 * Called first by `handle-request.ts`; `protocolOfPath` even before that, since it decides how a refusal looks.
 */
import { GatewayError } from "#proxy/errors";
import { queryValues } from "#proxy/http/query-values";
import { hasHeader, headerValues, type RawHeaders } from "#proxy/http1/wire/header-values";
import { defaultLimits } from "#proxy/limits";
import type { ChatWireFormat, Endpoint, Protocol } from "#proxy/neutral/wire";

type ChatEndpoint = Extract<Endpoint, { kind: "chat" }>;
type PostEndpoint = Extract<Endpoint, { kind: "chat" | "count-tokens" }>;

function chat(protocol: Protocol, format: ChatWireFormat): ChatEndpoint {
  return { kind: "chat", protocol, format, capability: "Chat" };
}

const chatCompletions = chat("OpenAI", "ChatCompletions");
const responses = chat("OpenAI", "Responses");
const messages = chat("Anthropic", "Messages");

const countTokens = {
  kind: "count-tokens",
  protocol: "Anthropic",
  format: "Messages",
  capability: "CountTokens",
} as const;

const postPaths: ReadonlyMap<string, PostEndpoint> = new Map<string, PostEndpoint>([
  ["/v1/chat/completions", chatCompletions],
  ["/chat/completions", chatCompletions],
  ["/v1/v1/chat/completions", chatCompletions],
  ["/v1/responses", responses],
  ["/responses", responses],
  ["/v1/v1/responses", responses],
  ["/v1/messages", messages],
  ["/v1/v1/messages", messages],
  ["/v1/messages/count_tokens", countTokens],
  ["/v1/v1/messages/count_tokens", countTokens],
]);

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
  "generateContent",
  "streamGenerateContent",
  "countTokens",
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
): Endpoint {
  if (method === "POST") {
    const known = postPaths.get(rawUrl);
    if (known !== undefined) return known;
  }
  if (rawUrl.length > targetBytesMax) {
    throw new GatewayError("target_too_long", `The request target is longer than ${targetBytesMax} bytes.`);
  }
  if (method === "OPTIONS" || method === "TRACE" || method === "CONNECT") throw methodNotAllowed("GET, POST");
  refuseForeignForms(rawUrl);
  const path = pathOf(rawUrl);
  const post = postPaths.get(path);
  if (post !== undefined) {
    if (method === "POST") return post;
    if (method === "GET" && post === responses && asksForWebSocket(headers)) throw upgradeRequired();
    throw methodNotAllowed("POST");
  }
  const stored = matchStoredResponse(method, path);
  if (stored !== undefined) return stored;
  const modelPath = readModelPath(path);
  if (modelPath === undefined) throw unknownUrl();
  if (modelPath.verb !== undefined) return matchVerb(method, rawUrl, modelPath.rest ?? "", modelPath.verb);
  if (method !== "GET") {
    // A verb that nobody knows is another path; without one, the path is right and the method wrong.
    if (method === "POST" && modelPath.rest?.includes(":")) throw unknownUrl();
    throw methodNotAllowed("GET");
  }
  const protocol = modelPath.isShared ? protocolOfHeaders(rawUrl, headers) : "Gemini";
  if (modelPath.rest === undefined) return { kind: "model-list", protocol };
  return { kind: "model-get", protocol, modelInPath: decodeModel(modelPath.rest) };
}

/**
 * Whose error shape a request gets; never throws, whatever the target holds (`protocols/errors.md` section 4).
 */
export function protocolOfPath(rawUrl: string, headers: RawHeaders): Protocol {
  const path = pathOf(rawUrl);
  const post = postPaths.get(path);
  if (post !== undefined) return post.protocol;
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

/** Letters and digits as every provider's ids have them: what stands here goes into an upstream's path. */
const storedResponsePath = /^\/(?:v1\/){0,2}responses\/([A-Za-z0-9][\w-]{0,255})(\/input_items)?$/;
/** Other endpoints of the format, none of them served. */
const noResponseIds = new Set(["compact", "input_tokens"]);

function matchStoredResponse(method: string, path: string): Endpoint | undefined {
  const match = storedResponsePath.exec(path);
  const responseId = match?.[1];
  if (responseId === undefined || noResponseIds.has(responseId)) return undefined;
  const stored = { kind: "stored-response", protocol: "OpenAI", responseId } as const;
  if (match?.[2] !== undefined) {
    if (method !== "GET") throw methodNotAllowed("GET");
    return { ...stored, action: "list-input" };
  }
  if (method === "GET") return { ...stored, action: "read" };
  if (method === "DELETE") return { ...stored, action: "delete" };
  throw methodNotAllowed("GET, DELETE");
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

function matchVerb(method: string, rawUrl: string, rest: string, verb: string): Endpoint {
  if (verb !== "generateContent" && verb !== "streamGenerateContent" && verb !== "countTokens") throw unknownUrl();
  if (method !== "POST") throw methodNotAllowed("POST");
  const modelInPath = decodeModel(rest.slice(0, -verb.length - 1));
  if (verb === "countTokens") {
    const format = { protocol: "Gemini", format: "GenerateContent" } as const;
    return { kind: "count-tokens", ...format, capability: "CountTokens", modelInPath };
  }
  const endpoint = { ...chat("Gemini", "GenerateContent"), modelInPath };
  return verb === "generateContent" ? endpoint : { ...endpoint, geminiStream: streamForm(rawUrl) };
}

/** `alt` or `$alt`: `sse` streams events, `json` or none a JSON array (`protocols/gemini.md` sections 1 and 5.2). */
function streamForm(rawUrl: string): "sse" | "array" {
  const values = new Set(["alt", "$alt", "%24alt"].flatMap((name) => queryValues(rawUrl, name)));
  if (values.size > 1) throw new GatewayError("invalid_value", "'alt' is given twice and differs.", { param: "alt" });
  const [form] = values;
  if (form === "sse") return "sse";
  if (form === undefined || form === "json") return "array";
  throw new GatewayError("invalid_value", "'alt' must be 'sse' or 'json'.", { param: "alt" });
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

/** `GET /v1/models` serves three protocols (`protocols/openai-others.md` section 7). */
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
  return new GatewayError(
    "unknown_url",
    "Unknown request URL. Served are POST /v1/chat/completions, /v1/responses, /v1/messages, " +
      "/v1/messages/count_tokens, /v1beta/models/{model}:generateContent, :streamGenerateContent and :countTokens, " +
      "GET and DELETE /v1/responses/{id}, and GET /v1/models; check the base address.",
  );
}

/** Codex asks for one first; 426 makes it use HTTP at once (`protocols/agents.md` section 4). */
function asksForWebSocket(headers: RawHeaders): boolean {
  return headerValues(headers, "upgrade").some((value) => /(?:^|,)\s*websocket(?:\/[^,]*)?\s*(?:,|$)/i.test(value));
}

function upgradeRequired(): GatewayError {
  return new GatewayError("upgrade_required", "Responses are not served over WebSocket. Send POST over HTTP.", {
    allow: "POST",
  });
}

function methodNotAllowed(allow: string): GatewayError {
  return new GatewayError("method_not_allowed", `This method is not allowed here; use ${allow}.`, { allow });
}
