/**
 * Holds the closed table of errors that a client can see, and the one class that carries them.
 *
 * Every refusal of the gateway is a `GatewayError` with a code of this table; `formats/render-error.ts` renders it for
 * each protocol (docs/design/errors.md 4 is the source of statuses, types and codes). Compare `code`, never the
 * message. The message is for the client and holds nothing but the gateway's own words and the client's own field
 * names; the internal reason is `cause` and goes to the log only.
 */

/** How Anthropic-style and Gemini-style bodies name a condition; OpenAI-style uses type, code and param. */
export interface ErrorRow {
  readonly status: number;
  /** Status for Anthropic-style clients where it differs (402 billing, 529 overloaded). */
  readonly messagesStatus?: number;
  readonly openaiType: string;
  readonly openaiCode: string | null;
  readonly anthropicType: string;
  readonly geminiStatus: string;
  /** `reason` of Google's ErrorInfo detail, where clients look for one. */
  readonly geminiReason?: string;
  /** Label of the quota and refusal metrics: a closed set. */
  readonly reason: string;
  /** Default `retry-after` in seconds. */
  readonly retryAfterSeconds?: number;
  /** Sent as `x-should-retry: false`: waiting cannot cure it. */
  readonly neverRetry?: true;
  /** The connection cannot be reused: the rest of the request was not read. */
  readonly closes?: true;
}

const authentication = {
  status: 401,
  openaiType: "invalid_request_error",
  openaiCode: "invalid_api_key",
  anthropicType: "authentication_error",
  geminiStatus: "UNAUTHENTICATED",
  geminiReason: "API_KEY_INVALID",
} as const;
const permission = {
  status: 403,
  openaiType: "permission_error",
  anthropicType: "permission_error",
  geminiStatus: "PERMISSION_DENIED",
} as const;
const invalid = {
  status: 400,
  openaiType: "invalid_request_error",
  anthropicType: "invalid_request_error",
  geminiStatus: "INVALID_ARGUMENT",
} as const;
const overloaded = {
  status: 503,
  messagesStatus: 529,
  openaiType: "service_unavailable_error",
  anthropicType: "overloaded_error",
  geminiStatus: "UNAVAILABLE",
} as const;
const rate = {
  status: 429,
  openaiType: "rate_limit_error",
  anthropicType: "rate_limit_error",
  geminiStatus: "RESOURCE_EXHAUSTED",
  retryAfterSeconds: 1,
} as const;

const table = {
  missing_credential: { ...authentication, reason: "missing_credential" },
  malformed_credential: { ...authentication, reason: "malformed_credential" },
  ambiguous_credential: { ...authentication, reason: "ambiguous_credential" },
  unknown_key: { ...authentication, reason: "unknown_key" },
  key_suspended: { ...authentication, reason: "key_suspended" },
  key_expired: { ...authentication, reason: "key_expired" },
  key_not_yet_valid: { ...authentication, reason: "key_not_yet_valid" },
  ip_not_allowed: { ...permission, openaiCode: "ip_not_allowed", reason: "ip_not_allowed" },
  model_not_allowed: { ...permission, openaiCode: "model_not_allowed", reason: "model_not_allowed" },
  protocol_not_allowed: { ...permission, openaiCode: "protocol_not_allowed", reason: "protocol_not_allowed" },
  capability_not_allowed: { ...permission, openaiCode: "capability_not_allowed", reason: "capability_not_allowed" },
  account_required: { ...permission, openaiCode: "account_required", reason: "account_required" },
  insufficient_quota: {
    status: 429,
    messagesStatus: 402,
    openaiType: "insufficient_quota",
    openaiCode: "insufficient_quota",
    anthropicType: "billing_error",
    geminiStatus: "RESOURCE_EXHAUSTED",
    reason: "insufficient_quota",
    neverRetry: true,
  },
  rate_limited: { ...rate, openaiCode: "rate_limit_exceeded", reason: "rate_limited" },
  concurrency_limited: { ...rate, openaiCode: "concurrency_limit_exceeded", reason: "concurrency_limited" },
  invalid_json: { ...invalid, openaiCode: "invalid_json", reason: "invalid_json" },
  invalid_form: { ...invalid, openaiCode: "invalid_form", reason: "invalid_form" },
  missing_parameter: { ...invalid, openaiCode: "missing_required_parameter", reason: "parameter" },
  invalid_type: { ...invalid, openaiCode: "invalid_type", reason: "parameter" },
  invalid_value: { ...invalid, openaiCode: "invalid_value", reason: "parameter" },
  unsupported_parameter: { ...invalid, openaiCode: "unsupported_parameter", reason: "parameter" },
  previous_response_not_found: { ...invalid, openaiCode: "previous_response_not_found", reason: "parameter" },
  wrong_protocol: { ...invalid, openaiCode: "wrong_protocol", reason: "wrong_protocol" },
  unsupported_endpoint: { ...invalid, openaiCode: "unsupported_endpoint", reason: "unsupported_endpoint" },
  bad_request_target: { ...invalid, openaiCode: "invalid_url", reason: "bad_request" },
  bad_request_header: { ...invalid, openaiCode: "invalid_header", reason: "bad_request" },
  /** Where the body ends, or for whom it is, cannot be told for sure: nothing behind it may be read as a request. */
  bad_request_framing: { ...invalid, openaiCode: "invalid_header", reason: "bad_request", closes: true },
  model_not_found: {
    status: 404,
    openaiType: "invalid_request_error",
    openaiCode: "model_not_found",
    anthropicType: "not_found_error",
    geminiStatus: "NOT_FOUND",
    reason: "model_not_found",
  },
  unknown_url: {
    status: 404,
    openaiType: "invalid_request_error",
    openaiCode: "unknown_url",
    anthropicType: "not_found_error",
    geminiStatus: "NOT_FOUND",
    reason: "unknown_url",
  },
  method_not_allowed: { ...invalid, status: 405, openaiCode: "method_not_allowed", reason: "method_not_allowed" },
  /** A WebSocket is asked for: its client goes over to HTTP at once, where other statuses cost it retries. */
  upgrade_required: {
    ...invalid,
    status: 426,
    openaiCode: "upgrade_required",
    reason: "upgrade_required",
    closes: true,
  },
  unsupported_media_type: {
    ...invalid,
    status: 415,
    openaiCode: "unsupported_media_type",
    reason: "unsupported_media_type",
  },
  body_too_large: {
    ...invalid,
    status: 413,
    openaiCode: "request_too_large",
    anthropicType: "request_too_large",
    reason: "body_too_large",
    closes: true,
  },
  request_timeout: {
    status: 408,
    openaiType: "invalid_request_error",
    openaiCode: "request_timeout",
    anthropicType: "timeout_error",
    geminiStatus: "DEADLINE_EXCEEDED",
    reason: "request_timeout",
    closes: true,
  },
  target_too_long: { ...invalid, status: 414, openaiCode: "uri_too_long", reason: "bad_request", closes: true },
  headers_too_large: { ...invalid, status: 431, openaiCode: "headers_too_large", reason: "bad_request", closes: true },
  expectation_failed: {
    ...invalid,
    status: 417,
    openaiCode: "expectation_failed",
    reason: "bad_request",
    closes: true,
  },
  no_available_channel: {
    ...overloaded,
    openaiCode: "no_available_channel",
    reason: "no_available_channel",
    retryAfterSeconds: 5,
  },
  // Our own credential or balance at the provider: another try of the client cures neither (docs/design/errors.md 2.2).
  channel_refused: {
    ...overloaded,
    openaiCode: "no_available_channel",
    reason: "channel_refused",
    neverRetry: true,
  },
  upstream_overloaded: {
    ...overloaded,
    openaiCode: "upstream_overloaded",
    reason: "upstream_overloaded",
    retryAfterSeconds: 5,
  },
  quota_store_unavailable: {
    ...overloaded,
    openaiCode: "quota_store_unavailable",
    reason: "quota_store_unavailable",
    retryAfterSeconds: 5,
  },
  overloaded: { ...overloaded, openaiCode: "overloaded", reason: "overloaded", retryAfterSeconds: 1 },
  not_ready: { ...overloaded, openaiCode: "not_ready", reason: "not_ready", retryAfterSeconds: 5 },
  shutting_down: {
    ...overloaded,
    openaiType: "server_error",
    openaiCode: "shutting_down",
    reason: "shutting_down",
    retryAfterSeconds: 1,
    closes: true,
  },
  /** A realtime session; OpenAI's own code. */
  session_expired: { ...invalid, openaiCode: "session_expired", reason: "session_expired" },
  upstream_bad_request: { ...invalid, openaiCode: "invalid_value", reason: "upstream_bad_request" },
  upstream_conflict: {
    ...invalid,
    status: 409,
    openaiCode: "conflict",
    anthropicType: "conflict_error",
    geminiStatus: "ABORTED",
    reason: "upstream_bad_request",
  },
  upstream_too_large: {
    ...invalid,
    status: 413,
    openaiCode: "request_too_large",
    anthropicType: "request_too_large",
    reason: "upstream_bad_request",
  },
  context_length: { ...invalid, openaiCode: "context_length_exceeded", reason: "context_length" },
  content_policy: { ...invalid, openaiCode: "content_policy_violation", reason: "content_policy" },
  upstream_model_not_found: {
    status: 404,
    openaiType: "invalid_request_error",
    openaiCode: "model_not_found",
    anthropicType: "not_found_error",
    geminiStatus: "NOT_FOUND",
    reason: "upstream_model_not_found",
  },
  upstream_rate_limited: { ...rate, openaiCode: "rate_limit_exceeded", reason: "upstream_rate_limited" },
  upstream_error: {
    status: 502,
    openaiType: "server_error",
    openaiCode: "upstream_error",
    anthropicType: "api_error",
    geminiStatus: "UNAVAILABLE",
    reason: "upstream_error",
  },
  upstream_timeout: {
    status: 504,
    openaiType: "server_error",
    openaiCode: "timeout",
    anthropicType: "timeout_error",
    geminiStatus: "DEADLINE_EXCEEDED",
    reason: "upstream_timeout",
  },
  internal: {
    status: 500,
    openaiType: "server_error",
    openaiCode: "internal_error",
    anthropicType: "api_error",
    geminiStatus: "INTERNAL",
    reason: "internal",
  },
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof table;

/** Every code with its row; closed. */
export const errorTable: Readonly<Record<ErrorCode, ErrorRow>> = table;

export interface GatewayErrorOptions {
  /** The field at fault as the client's format spells its path, for example `messages[2].content[0].image_url.url`. */
  readonly param?: string;
  /** Seconds, at least 1; clamped to 60 when sent. */
  readonly retryAfterSeconds?: number;
  /** Methods for `allow` on 405. */
  readonly allow?: string;
  /** What happened inside: for the log, never for the client. */
  readonly cause?: unknown;
}

/** A refusal or failure the client is told about. `message` is sent to the client. */
export class GatewayError extends Error {
  readonly code: ErrorCode;
  readonly param: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly allow: string | undefined;

  constructor(code: ErrorCode, message: string, options: GatewayErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "GatewayError";
    this.code = code;
    this.param = options.param;
    this.retryAfterSeconds = options.retryAfterSeconds ?? errorTable[code].retryAfterSeconds;
    this.allow = options.allow;
  }
}

/**
 * What a client is told of an error.
 * @throws the error itself where it is none that a client is told of
 */
export function requireGatewayError(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  throw error;
}
