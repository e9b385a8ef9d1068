/**
 * Sorts the errors that upstreams report into the kinds of docs/design/errors.md 5: by the provider's own words first,
 * then by its message where the provider has no word for the kind, then by the status.
 *
 * A message may repeat what the client wrote (`Invalid value: '...'`), so a client could make the gateway believe that
 * a credential is refused or spent. A message about a credential counts only beside a status that means the same, or
 * where the whole message is a provider's own.
 *
 * The order of the rows matters: a 429 can be a spent quota, a 400 can be a bad key, a 403 is never the client's.
 */
import type { JsonObject } from "#proxy/json/json-value";
import type { UpstreamError } from "./format.ts";
import { type ErrorFacts, readErrorBody, readErrorJson } from "./normalise-error-body.ts";
import { type UpstreamErrorKind as Kind, upstreamErrors } from "./upstream-errors.ts";

type Headers = Readonly<Record<string, string | string[] | undefined>>;

interface Row {
  readonly kind: Kind;
  readonly words?: RegExp;
  readonly message?: RegExp;
  /** With which the message counts; undefined is a status that nobody stated. */
  readonly statuses?: ReadonlySet<number | undefined>;
}

/** The request is at fault, or is said to be. */
const requestStatuses: ReadonlySet<number | undefined> = new Set([400, 413, 422, undefined]);
const paymentStatuses: ReadonlySet<number | undefined> = new Set([401, 402, 403, 429]);

const rows: readonly Row[] = [
  { kind: "context_length", words: /context_length_exceeded|context_window_exceeded|string_above_max_length/ },
  {
    kind: "context_length",
    message:
      /maximum context length|prompt is too long|exceeds the maximum number of tokens|exceeds? the context window|input is too long|too many input tokens/i,
    statuses: requestStatuses,
  },
  {
    kind: "policy",
    words:
      /content_policy|content_filter|contentfilter|moderation|safety_violation|invalid_prompt|responsibleaipolicyviolation/,
  },
  { kind: "channel_quota", words: /insufficient_quota|billing|payment_required|insufficient_credits|credit_balance/ },
  {
    kind: "channel_quota",
    message:
      /credit balance is too low|insufficient (?:balance|quota|credits)|prepayment credits|usage limits? .*reached|billing hard limit/i,
    statuses: paymentStatuses,
  },
  // Anthropic says it with a 400. Where a client's words are repeated, a colon or a quotation mark stands beside them.
  {
    kind: "channel_quota",
    message: /^(?:your credit balance is too low|you have reached your [\w ]*usage limits)(?:[^:'"`]|:\d)*$/i,
    statuses: requestStatuses,
  },
  {
    kind: "channel_auth",
    words:
      /invalid_api_key|api_key_invalid|api_key_expired|authentication|unauthenticated|permission|access_denied|unauthorized|forbidden/,
  },
  // Where there is no word and no more of a message than this, it repeats nobody.
  {
    kind: "channel_quota",
    message: /^(?:insufficient (?:balance|quota|credits)|billing hard limit has been reached)\.?$/i,
    statuses: requestStatuses,
  },
  {
    kind: "channel_auth",
    message: /^(?:api key not valid\. please pass a valid api key|invalid api key)\.?$/i,
    statuses: requestStatuses,
  },
  // xAI says it with a 400, and shows no more of the key than its ends.
  {
    kind: "channel_auth",
    message: /^incorrect api key provided: [^\s*]{0,8}\*{3}[^\s*]{0,8}\. you can obtain an api key from \S+$/i,
    statuses: requestStatuses,
  },
  { kind: "overloaded", words: /overloaded|unavailable|capacity/ },
  { kind: "rate_limit", words: /rate_limit|resource_exhausted|too_many_requests|throttl|quota_exceeded/ },
  { kind: "too_large", words: /request_too_large|payload_too_large/ },
  { kind: "channel_config", words: /model_not_found|deploymentnotfound|not_found/ },
  { kind: "timeout", words: /timeout|deadline_exceeded|timed_out/ },
  { kind: "conflict", words: /conflict|aborted/ },
  { kind: "capability", words: /unsupported_parameter|unsupported_value|unsupported_model|unimplemented/ },
  { kind: "upstream_5xx", words: /server_error|api_error|internal/ },
];

/** What a message is about stands at its beginning. */
const messageLengthMax = 2_048;
/** What relays put before and behind a provider's own message. */
const relayed = /^litellm\.\w+: (?:\w+ - )?|\s*\(request id: [\w-]+\)$/gi;

const capabilityMessage = /does not support|is not supported|not supported (?:with|for|by|on)|unsupported parameter/i;

/** Classifies the body of a reply with an error status (or a redirect, which is one). */
export function classifyErrorReply(status: number, headers: Headers, body: Buffer, nowMs: number): UpstreamError {
  const facts = readErrorBody(body);
  const retryAfterMs = retryAfterFromHeaders(headers, nowMs) ?? facts.retryAfterMs;
  return build(kindOf(facts, status), status, facts, retryAfterMs);
}

/** Classifies an error that came with a success status: a 200 body or an event of a stream. */
export function classifyErrorEvent(json: unknown): UpstreamError {
  const facts = readErrorJson(json);
  const kind = kindOf(facts, facts.statedStatus);
  return build(kind, facts.statedStatus ?? upstreamErrors[kind].usualStatus, facts, facts.retryAfterMs);
}

/**
 * Whether an event tells an error: in an object, a text, or whatever else is truthy, as SDKs decide
 * (docs/design/chat-completions.md 6).
 */
export function holdsError(event: JsonObject): boolean {
  const error = event["error"];
  return error !== undefined && error !== null && error !== false && error !== "";
}

function build(kind: Kind, status: number, facts: ErrorFacts, retryAfterMs: number | undefined): UpstreamError {
  return { kind, status, message: facts.message, param: facts.param, retryAfterMs };
}

function kindOf(facts: ErrorFacts, status: number | undefined): Kind {
  if (facts.isHtml && status !== undefined && status < 500 && status !== 429) return "upstream_5xx";
  const isServerSide = status !== undefined && status >= 500;
  const message = facts.message.slice(0, messageLengthMax).replace(relayed, "");
  for (const row of rows) {
    if (row.words?.test(facts.words) === true) {
      // A server error that mentions, say, a permission is still the server's.
      if (isServerSide && !upstreamErrors[row.kind].isServerSide) continue;
      return row.kind === "upstream_5xx" ? serverKind(status) : row.kind;
    }
    if (row.statuses?.has(status) === true && row.message?.test(message) === true) return row.kind;
  }
  const isRequest = status === 400 || status === 422 || (status === undefined && /invalid/.test(facts.words));
  if (isRequest) return capabilityMessage.test(message) ? "capability" : "bad_request";
  return status === undefined ? "upstream_5xx" : serverKind(status);
}

function serverKind(status: number | undefined): Kind {
  return (status === undefined ? undefined : kindByStatus.get(status)) ?? "upstream_5xx";
}

const kindByStatus: ReadonlyMap<number, Kind> = new Map<number, Kind>([
  [400, "bad_request"],
  [401, "channel_auth"],
  [402, "channel_quota"],
  [403, "channel_auth"],
  [404, "channel_config"],
  [408, "timeout"],
  [409, "conflict"],
  [413, "too_large"],
  [422, "bad_request"],
  [429, "rate_limit"],
  [503, "overloaded"],
  [504, "timeout"],
  [529, "overloaded"],
]);

/** Longer waits are as good as for ever, and numbers beyond are nonsense. */
const retryAfterMsMax = 24 * 3_600_000;

/** `retry-after-ms`, else `retry-after` as seconds or as a date. */
function retryAfterFromHeaders(headers: Headers, nowMs: number): number | undefined {
  const milliseconds = Number(single(headers["retry-after-ms"]) ?? Number.NaN);
  if (milliseconds >= 0) return Math.min(milliseconds, retryAfterMsMax);
  const value = single(headers["retry-after"]);
  if (value === undefined) return undefined;
  const seconds = /^\d+(?:\.\d+)?$/.test(value) ? Number(value) : (Date.parse(value) - nowMs) / 1_000;
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(0, Math.ceil(seconds * 1_000)), retryAfterMsMax);
}

function single(value: string | string[] | undefined): string | undefined {
  const first = Array.isArray(value) ? value[0] : value;
  return first === undefined || first.trim() === "" ? undefined : first.trim();
}
