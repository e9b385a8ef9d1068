/**
 * Conditions that each end in an error (docs/design/errors.md 2, 4 and 5), for the gateway of `sdk-gateway.ts`, with
 * what the official SDKs make of them.
 */

export interface ErrorCase {
  readonly name: string;
  /** `main` unless given. */
  readonly key?: string;
  /** `demo` unless given. */
  readonly model?: string;
  /** A temperature beyond every provider's range. */
  readonly isTooHot?: true;
  /** A prompt beyond the limit of a body. */
  readonly isLarge?: true;
  readonly status: number;
  /** Class of the SDK. */
  readonly class: string;
  /** `code` of the error's body. */
  readonly word: string;
  readonly param?: string;
}

/** Every class of error, as protocol A tells it; by its word the other protocols' own are found below. */
export const errorCases: readonly ErrorCase[] = [
  { name: "an unknown key", key: "nobody", status: 401, class: "AuthenticationError", word: "invalid_api_key" },
  { name: "a suspended key", key: "suspended", status: 401, class: "AuthenticationError", word: "invalid_api_key" },
  { name: "an expired key", key: "expired", status: 401, class: "AuthenticationError", word: "invalid_api_key" },
  { name: "another address", key: "elsewhere", status: 403, class: "PermissionDeniedError", word: "ip_not_allowed" },
  {
    name: "a model the key may not call",
    key: "narrow",
    model: "maker/demo:1",
    status: 403,
    class: "PermissionDeniedError",
    word: "model_not_allowed",
    param: "model",
  },
  {
    name: "a capability the key lacks",
    key: "chatless",
    status: 403,
    class: "PermissionDeniedError",
    word: "capability_not_allowed",
  },
  {
    name: "an unknown model",
    model: "nothing",
    status: 404,
    class: "NotFoundError",
    word: "model_not_found",
    param: "model",
  },
  {
    name: "a parameter out of range",
    isTooHot: true,
    status: 400,
    class: "BadRequestError",
    word: "invalid_value",
    param: "temperature",
  },
  {
    name: "a body that is too large",
    isLarge: true,
    status: 413,
    class: "APIError",
    word: "request_too_large",
  },
  {
    name: "an account without credit",
    key: "unfunded",
    status: 429,
    class: "RateLimitError",
    word: "insufficient_quota",
  },
  { name: "a provider's 400", model: "fault-400", status: 400, class: "BadRequestError", word: "invalid_value" },
  { name: "a provider's 404", model: "fault-404", status: 404, class: "NotFoundError", word: "model_not_found" },
  { name: "a provider's 409", model: "fault-409", status: 409, class: "ConflictError", word: "conflict" },
  { name: "a provider's 413", model: "fault-413", status: 413, class: "APIError", word: "request_too_large" },
  {
    name: "a provider's 429",
    model: "fault-429",
    status: 429,
    class: "RateLimitError",
    word: "rate_limit_exceeded",
  },
  ...["401", "402", "403"].map((status) => ({
    name: `a provider's ${status} about our credential`,
    model: `fault-${status}`,
    status: 503,
    class: "InternalServerError",
    word: "no_available_channel",
  })),
  ...["500", "502"].map((status) => ({
    name: `a provider's ${status}`,
    model: `fault-${status}`,
    status: 502,
    class: "InternalServerError",
    word: "upstream_error",
  })),
  ...["503", "529"].map((status) => ({
    name: `a provider's ${status}`,
    model: `fault-${status}`,
    status: 503,
    class: "InternalServerError",
    word: "upstream_overloaded",
  })),
  ...["408", "504"].map((status) => ({
    name: `a provider's ${status}`,
    model: `fault-${status}`,
    status: 504,
    class: "InternalServerError",
    word: "timeout",
  })),
];

/** What B names otherwise, by the code of A. */
export const anthropicWords: Readonly<
  Record<string, readonly [status: number, type: string, newer: string, older?: string]>
> = {
  invalid_api_key: [401, "authentication_error", "AuthenticationError"],
  ip_not_allowed: [403, "permission_error", "PermissionDeniedError"],
  model_not_allowed: [403, "permission_error", "PermissionDeniedError"],
  capability_not_allowed: [403, "permission_error", "PermissionDeniedError"],
  model_not_found: [404, "not_found_error", "NotFoundError"],
  invalid_value: [400, "invalid_request_error", "BadRequestError"],
  request_too_large: [413, "request_too_large", "ContentTooLargeError", "APIError"],
  insufficient_quota: [402, "billing_error", "PaymentRequiredError", "APIError"],
  conflict: [409, "conflict_error", "ConflictError"],
  rate_limit_exceeded: [429, "rate_limit_error", "RateLimitError"],
  no_available_channel: [529, "overloaded_error", "OverloadedError", "InternalServerError"],
  upstream_overloaded: [529, "overloaded_error", "OverloadedError", "InternalServerError"],
  upstream_error: [502, "api_error", "InternalServerError"],
  timeout: [504, "timeout_error", "GatewayTimeoutError", "InternalServerError"],
};

export const geminiWords: Readonly<Record<string, string>> = {
  invalid_api_key: "UNAUTHENTICATED",
  ip_not_allowed: "PERMISSION_DENIED",
  model_not_allowed: "PERMISSION_DENIED",
  capability_not_allowed: "PERMISSION_DENIED",
  model_not_found: "NOT_FOUND",
  invalid_value: "INVALID_ARGUMENT",
  request_too_large: "INVALID_ARGUMENT",
  insufficient_quota: "RESOURCE_EXHAUSTED",
  conflict: "ABORTED",
  rate_limit_exceeded: "RESOURCE_EXHAUSTED",
  no_available_channel: "UNAVAILABLE",
  upstream_overloaded: "UNAVAILABLE",
  upstream_error: "UNAVAILABLE",
  timeout: "DEADLINE_EXCEEDED",
};
