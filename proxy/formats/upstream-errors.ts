/**
 * Lists the kinds of errors that upstreams report (docs/design/errors.md 5), and all that follows from a kind: a new
 * kind is a row here.
 */
import type { ErrorCode } from "#proxy/errors";
import type { AttemptOutcomeLabel } from "#proxy/observe/metrics";
import type { Route } from "#proxy/snapshot/types.gen";

export interface UpstreamErrorTraits {
  /** Of an error that came without a status of its own. */
  readonly usualStatus: number;
  readonly clientCode: ErrorCode;
  /** What the client is told where the upstream's text may not pass. */
  readonly ownWords: string;
  /** Undefined: no other target would reply differently. */
  readonly failover: NonNullable<Route["failover"]["on"]>[number] | undefined;
  /** How the attempt is counted. */
  readonly label: AttemptOutcomeLabel;
  /** A status of 500 or more can mean it. */
  readonly isServerSide: boolean;
}

const rows = {
  bad_request: {
    usualStatus: 400,
    clientCode: "upstream_bad_request",
    ownWords: "The provider refused the request as invalid.",
    failover: undefined,
    label: "client_error",
    isServerSide: false,
  },
  context_length: {
    usualStatus: 400,
    clientCode: "context_length",
    ownWords: "The prompt is longer than the model accepts.",
    failover: "ContextTooLong",
    label: "client_error",
    isServerSide: false,
  },
  policy: {
    usualStatus: 400,
    clientCode: "content_policy",
    ownWords: "The provider's content policy refused the request.",
    failover: undefined,
    label: "client_error",
    isServerSide: false,
  },
  capability: {
    usualStatus: 400,
    clientCode: "unsupported_parameter",
    ownWords: "The model does not support a parameter of this request.",
    failover: undefined,
    label: "client_error",
    isServerSide: false,
  },
  channel_auth: {
    usualStatus: 401,
    clientCode: "channel_refused",
    ownWords: "The model is not available at the moment.",
    failover: "CredentialRejected",
    label: "credential_rejected",
    isServerSide: false,
  },
  channel_quota: {
    usualStatus: 402,
    clientCode: "channel_refused",
    ownWords: "The model is not available at the moment.",
    failover: "PaymentRequired",
    label: "payment_required",
    isServerSide: true,
  },
  channel_config: {
    usualStatus: 404,
    clientCode: "upstream_model_not_found",
    ownWords: "The model is not available at its provider.",
    failover: "ModelNotFound",
    label: "client_error",
    isServerSide: false,
  },
  timeout: {
    usualStatus: 504,
    clientCode: "upstream_timeout",
    ownWords: "Upstream server error: the provider did not reply in time (timeout).",
    failover: "Timeout",
    label: "timeout",
    isServerSide: true,
  },
  conflict: {
    usualStatus: 409,
    clientCode: "upstream_conflict",
    ownWords: "The provider reports a conflict with another request.",
    failover: undefined,
    label: "client_error",
    isServerSide: false,
  },
  too_large: {
    usualStatus: 413,
    clientCode: "upstream_too_large",
    ownWords: "The provider refuses a request of this size.",
    failover: undefined,
    label: "client_error",
    isServerSide: false,
  },
  rate_limit: {
    usualStatus: 429,
    clientCode: "upstream_rate_limited",
    ownWords: "Rate limit of the provider: too many requests for this model. Try again later.",
    failover: "RateLimited",
    label: "rate_limited",
    isServerSide: true,
  },
  upstream_5xx: {
    usualStatus: 500,
    clientCode: "upstream_error",
    ownWords: "Upstream server error: the provider failed to reply.",
    failover: "ServerError",
    label: "server_error",
    isServerSide: true,
  },
  overloaded: {
    usualStatus: 529,
    clientCode: "upstream_overloaded",
    ownWords: "The provider is overloaded. Try again later.",
    failover: "ServerError",
    label: "server_error",
    isServerSide: true,
  },
} satisfies Readonly<Record<string, UpstreamErrorTraits>>;

export type UpstreamErrorKind = keyof typeof rows;

export const upstreamErrors: Readonly<Record<UpstreamErrorKind, UpstreamErrorTraits>> = rows;
