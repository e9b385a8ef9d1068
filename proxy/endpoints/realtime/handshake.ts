/**
 * Reads what a client asks for when it opens a realtime session: the handshake of RFC 6455 and the query (PURE).
 *
 * A key stands in `Authorization: Bearer` alone. Browsers cannot set that header, so their clients put a key among the
 * subprotocols, or hold an ephemeral secret: both are refused, because a key in a browser is a key of everybody
 * (docs/design/interface.md 5).
 */
import { GatewayError } from "#proxy/errors";
import { queryValues } from "#proxy/http/query-values";
import { headerValues, type RawHeaders } from "#proxy/http1/wire/header-values";

/** The session that a client asks for. */
export type AskedSession =
  | { readonly kind: "conversation"; readonly model: string }
  /** Its model is named later, in `session.update`. */
  | { readonly kind: "transcription" };

export interface Handshake {
  /** `Sec-WebSocket-Key`, checked. */
  readonly key: string;
  /** The client offers the subprotocol `realtime`: the only one that is ever accepted. */
  readonly offersRealtime: boolean;
  readonly asked: AskedSession;
}

/** The head of a request, as it came. */
export interface RequestHead {
  readonly httpVersion: string;
  readonly url: string;
  readonly rawHeaders: RawHeaders;
}

/** 16 bytes in base64 (RFC 6455 section 4.2.1). */
const keyForm = /^[+/0-9A-Za-z]{22}==$/;
const keyInProtocol = /^openai-insecure-api-key\./i;
const ephemeralSecret = /^Bearer +ek_/i;

/** @throws GatewayError `malformed_credential` for keys as browsers would present them */
export function refuseBrowserKeys(headers: RawHeaders): void {
  const isInProtocol = tokens(headers, "sec-websocket-protocol").some((name) => keyInProtocol.test(name));
  const isEphemeral = headerValues(headers, "authorization").some((value) => ephemeralSecret.test(value));
  if (!isInProtocol && !isEphemeral) return;
  const what = isInProtocol
    ? "An API key in 'Sec-WebSocket-Protocol' is not accepted"
    : "Ephemeral secrets ('ek_...') are not accepted";
  throw new GatewayError(
    "malformed_credential",
    `${what}: browsers must not call this service with a key. Connect from a server of yours and send 'Authorization: Bearer <API_KEY>'.`,
  );
}

/** @throws GatewayError `bad_request_header`, `missing_parameter`, `invalid_value`, `unsupported_parameter` */
export function readHandshake({ httpVersion, url, rawHeaders }: RequestHead): Handshake {
  const asks = tokens(rawHeaders, "upgrade").some((name) => name.toLowerCase() === "websocket");
  const upgrades = tokens(rawHeaders, "connection").some((name) => name.toLowerCase() === "upgrade");
  if (httpVersion !== "1.1" || !asks || !upgrades) {
    throw bad("This path serves WebSockets: send 'Connection: Upgrade' and 'Upgrade: websocket' over HTTP/1.1.");
  }
  const versions = headerValues(rawHeaders, "sec-websocket-version");
  if (versions.length !== 1 || versions[0] !== "13") throw bad("'Sec-WebSocket-Version' must be 13.");
  const keys = headerValues(rawHeaders, "sec-websocket-key");
  const [key = ""] = keys;
  if (keys.length !== 1 || !keyForm.test(key)) throw bad("'Sec-WebSocket-Key' must be 16 bytes in base64.");
  const hasBody = ["content-length", "transfer-encoding"].some((name) => headerValues(rawHeaders, name).length > 0);
  if (hasBody) throw bad("A WebSocket handshake has no body.");
  const offersRealtime = tokens(rawHeaders, "sec-websocket-protocol").includes("realtime");
  return { key, offersRealtime, asked: readQuery(url) };
}

/** Exactly one of `model`, `call_id` and `intent` says what the session is; a call belongs to the upstream's account. */
function readQuery(url: string): AskedSession {
  if (queryValues(url, "call_id").length > 0) {
    throw new GatewayError("unsupported_parameter", "Calls of the upstream's account cannot be joined here.", {
      param: "call_id",
    });
  }
  const models = queryValues(url, "model");
  const intents = queryValues(url, "intent");
  if (models.length > 1) throw invalid("model", "'model' must be given once.");
  if (intents.length > 1) throw invalid("intent", "'intent' must be given once.");
  const [model] = models;
  const [intent] = intents;
  if (model !== undefined && intent !== undefined) {
    throw invalid(
      "intent",
      "'model' and 'intent' exclude each other: a transcription names its model in 'session.update'.",
    );
  }
  if (intent !== undefined) {
    if (intent !== "transcription") throw invalid("intent", "'intent' must be 'transcription'.");
    return { kind: "transcription" };
  }
  if (model === undefined || model === "") {
    throw new GatewayError("missing_parameter", "'model' is missing: connect to /v1/realtime?model=<name>.", {
      param: "model",
    });
  }
  return { kind: "conversation", model: decoded(model) };
}

function decoded(raw: string): string {
  try {
    return decodeURIComponent(raw.replaceAll("+", " "));
  } catch {
    throw invalid("model", "'model' holds an escape that is not UTF-8.");
  }
}

/** The members of a list that may stand in several fields. */
function tokens(headers: RawHeaders, name: string): string[] {
  return headerValues(headers, name)
    .flatMap((value) => value.split(","))
    .map((token) => token.trim());
}

function bad(message: string): GatewayError {
  return new GatewayError("bad_request_header", message);
}

function invalid(param: string, message: string): GatewayError {
  return new GatewayError("invalid_value", message, { param });
}
