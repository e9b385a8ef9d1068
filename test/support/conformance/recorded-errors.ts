/**
 * What a client is told when a recorded reply is an error (docs/design/errors.md 5): the code of the closed table, and
 * the words of its protocol. Never the upstream's own 401, 402 or 403: the client's key is fine.
 */
import type { ErrorCode } from "#proxy/errors";

export interface ExpectedError {
  readonly code: ErrorCode;
  /** Status, or 200 for a stream that had begun. */
  readonly status: number;
  /** `code` of A, `type` of B, `status` of C. */
  readonly word: string;
  readonly message: RegExp;
  /** Sent as `retry-after`. */
  readonly retryAfter?: string;
}

const refused = {
  code: "channel_refused",
  status: 503,
  message: /^The model is not available at the moment\./,
} as const;

/** By the recording's id without `upstream/`; every recorded error is here. */
export const expectedErrors: Readonly<Record<string, ExpectedError>> = {
  "openai-chat/error-401-deepseek": { ...refused, word: "no_available_channel" },
  "openai-chat/error-404-model": {
    code: "upstream_model_not_found",
    status: 404,
    word: "model_not_found",
    message: /^The model is not available at its provider\./,
  },
  "openai-chat/error-400-bad-request": {
    code: "unsupported_parameter",
    status: 400,
    word: "unsupported_parameter",
    message: /parameter/,
  },
  "openai-chat/error-400-content-filter-azure": {
    code: "content_policy",
    status: 400,
    word: "content_policy_violation",
    message: /content management policy/i,
  },
  "openai-chat/error-429-openrouter": {
    code: "upstream_rate_limited",
    status: 429,
    word: "rate_limit_exceeded",
    message: /too many requests/,
    retryAfter: "1",
  },
  "openai-chat/stream-error-mid-stream-openrouter": {
    code: "upstream_bad_request",
    status: 200,
    word: "invalid_value",
    message: /^Token limit reached$/,
  },
  "openai-chat/stream-error-mid-stream-groq": {
    code: "upstream_bad_request",
    status: 200,
    word: "invalid_value",
    message: /^Tool call validation failed/,
  },
  "openai-responses/error-400-context-length": {
    code: "context_length",
    status: 400,
    word: "context_length_exceeded",
    message: /maximum context length/,
  },
  "openai-responses/error-401-auth": { ...refused, word: "no_available_channel" },
  "openai-responses/error-429-quota": { ...refused, word: "no_available_channel" },
  "openai-responses/stream-error-quota": { ...refused, status: 200, word: "no_available_channel" },
  "anthropic-messages/error-400-context-length": {
    code: "context_length",
    status: 400,
    word: "invalid_request_error",
    message: /^prompt is too long: 3333404 tokens > 200000 maximum/,
  },
  "anthropic-messages/error-401-auth": { ...refused, status: 529, word: "overloaded_error" },
  "gemini/error-400-api-key": { ...refused, word: "UNAVAILABLE" },
  "gemini/error-403-permission": { ...refused, word: "UNAVAILABLE" },
  "gemini/error-404-model": {
    code: "upstream_model_not_found",
    status: 404,
    word: "NOT_FOUND",
    message: /^The model is not available at its provider\./,
  },
  "gemini/error-429-quota": {
    code: "upstream_rate_limited",
    status: 429,
    word: "RESOURCE_EXHAUSTED",
    message: /too many requests/,
    retryAfter: "48",
  },
  "gemini/stream-error-mid-stream": {
    code: "upstream_error",
    status: 200,
    word: "UNAVAILABLE",
    message: /^Upstream server error: the provider failed to reply\./,
  },
};
