/**
 * Renders the gateway's errors as each protocol's clients expect them (docs/design/errors.md 1, 3 and 4).
 *
 * The official SDKs build their exceptions from these shapes, their retries from these headers, and agents compact
 * their context on the words for a prompt that is too long; so bodies, headers and words are part of the interface.
 */
import { type ErrorRow, errorTable, type GatewayError } from "#proxy/errors";
import type { Protocol } from "#proxy/neutral/wire";
import { unreachable } from "#proxy/runtime/unreachable";
import type { ErrorContext, RenderedError } from "./format.ts";

/**
 * A client of one SDK would sleep for whatever it is told, so nothing beyond a minute is sent
 * (docs/design/errors.md 2.2).
 */
const retryAfterSecondsMax = 60;

/** Status, headers and body of a refusal before the first byte. */
export function renderError(error: GatewayError, protocol: Protocol, context: ErrorContext): RenderedError {
  const row = errorTable[error.code];
  const body = Buffer.from(JSON.stringify(errorObject(error, protocol, context)));
  return { status: statusFor(row, protocol), headers: headersFor(error, row, context), body };
}

/** The body of an error, which is also the data of an error event; plain JSON. */
export function errorObject(error: GatewayError, protocol: Protocol, context: ErrorContext): object {
  const row: ErrorRow = errorTable[error.code];
  const message = messageFor(error, protocol, context);
  switch (protocol) {
    case "OpenAI":
      return { error: { message, type: row.openaiType, param: error.param ?? null, code: row.openaiCode } };
    case "Anthropic":
      return { type: "error", error: { type: row.anthropicType, message }, request_id: context.requestId };
    case "Gemini":
      return { error: { code: row.status, message, status: row.geminiStatus, ...geminiDetails(error, row) } };
    default:
      return unreachable(protocol);
  }
}

function statusFor(row: ErrorRow, protocol: Protocol): number {
  return protocol === "Anthropic" ? (row.messagesStatus ?? row.status) : row.status;
}

function headersFor(error: GatewayError, row: ErrorRow, context: ErrorContext): Record<string, string> {
  const headers: Record<string, string> = {
    "content-type": "application/json",
    "x-request-id": context.requestId,
    "request-id": context.requestId,
  };
  const seconds = error.retryAfterSeconds;
  if (seconds !== undefined) headers["retry-after"] = String(clampRetryAfter(seconds));
  if (row.neverRetry === true) headers["x-should-retry"] = "false";
  if (row.status === 401) headers["www-authenticate"] = "Bearer";
  if (error.allow !== undefined) headers["allow"] = error.allow;
  return headers;
}

/** Whole seconds from 1 to 60. */
function clampRetryAfter(seconds: number): number {
  return Math.min(Math.max(1, Math.ceil(seconds)), retryAfterSecondsMax);
}

function messageFor(error: GatewayError, protocol: Protocol, context: ErrorContext): string {
  let message = error.message;
  if (error.code === "context_length") return contextLengthMessage(message, protocol);
  if (error.code === "insufficient_quota" && !message.toLowerCase().startsWith("insufficient quota")) {
    message = `insufficient quota: ${message}`;
  }
  if (error.code === "internal" && !message.includes(context.requestId)) {
    message = `${message} (request ${context.requestId})`;
  }
  const seconds = error.retryAfterSeconds;
  if (seconds !== undefined && seconds > retryAfterSecondsMax && !/\bretry\b/i.test(message)) {
    message = `${message} Retry in ${Math.ceil(seconds)} seconds.`;
  }
  const isParameter = error.param !== undefined && error.param !== "model";
  if (protocol === "Anthropic" && isParameter && !message.startsWith(`${error.param}:`)) {
    message = `${error.param}: ${message}`;
  }
  return message;
}

/** The words on which agents of each protocol shorten their context and try again (docs/design/errors.md 5). */
function contextLengthMessage(message: string, protocol: Protocol): string {
  switch (protocol) {
    case "OpenAI":
      return message.includes("maximum context length")
        ? message
        : `This exceeds the model's maximum context length. ${message}`;
    case "Anthropic":
      return message.startsWith("prompt is too long") ? message : `prompt is too long: ${message}`;
    case "Gemini":
      return message.includes("exceeds the maximum number of tokens allowed")
        ? message
        : `The input token count exceeds the maximum number of tokens allowed. ${message}`;
    default:
      return unreachable(protocol);
  }
}

const errorInfoType = "type.googleapis.com/google.rpc.ErrorInfo";
const badRequestType = "type.googleapis.com/google.rpc.BadRequest";
const retryInfoType = "type.googleapis.com/google.rpc.RetryInfo";

function geminiDetails(error: GatewayError, row: ErrorRow): { details?: object[] } {
  const details: object[] = [];
  if (row.geminiReason !== undefined) {
    const reason = error.code === "key_expired" ? "API_KEY_EXPIRED" : row.geminiReason;
    details.push({ "@type": errorInfoType, reason, domain: "googleapis.com" });
  }
  if (error.param !== undefined && row.status === 400) {
    details.push({ "@type": badRequestType, fieldViolations: [{ field: error.param, description: error.message }] });
  }
  if (row.status === 429 && row.neverRetry !== true && error.retryAfterSeconds !== undefined) {
    details.push({ "@type": retryInfoType, retryDelay: `${clampRetryAfter(error.retryAfterSeconds)}s` });
  }
  return details.length === 0 ? {} : { details };
}
