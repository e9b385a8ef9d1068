/**
 * Describes a failed attempt: an error of the table for the client, a condition for failover, a label for the metrics.
 *
 * An upstream's refusal of our own credential is never the client's 401 (docs/design/requests.md 4).
 */
import { GatewayError } from "#proxy/errors";
import type { UpstreamError } from "#proxy/formats/format";
import { upstreamErrors } from "#proxy/formats/upstream-errors";
import { tooManyBytes } from "#proxy/http/in-flight-bytes";
import type { AttemptOutcomeLabel as AttemptLabel } from "#proxy/observe/metrics";
import type { StreamProblem } from "./attempt-outcome.ts";
import type { UpstreamFailure } from "./upstream-exchange.ts";

/**
 * An upstream that could not be reached, broke off or took too long, as the client sees it. The texts of failures that
 * another try may cure hold the words by which clients know them ("connection error", "server error", "service
 * unavailable", "overloaded"): some decide by the text alone.
 */
export function errorOfFailure(failure: UpstreamFailure): GatewayError {
  const { cause } = failure;
  switch (failure.kind) {
    case "connect":
    case "broken":
      return new GatewayError("upstream_error", "Upstream connection error: the connection failed or was lost.", {
        cause,
      });
    case "egress":
      return noAvailableChannel(cause);
    case "connect-timeout":
    case "first-byte-timeout":
    case "idle-timeout":
    case "total-timeout":
      return new GatewayError("upstream_timeout", "Upstream server error: no reply came in time (timeout).", {
        cause: failure.kind,
      });
    default:
      return failure.kind satisfies never;
  }
}

/** There may be a channel again in a moment: nothing is wrong with the call. */
export function noAvailableChannel(cause?: unknown): GatewayError {
  return new GatewayError(
    "no_available_channel",
    "Service unavailable: no channel can serve this model at the moment.",
    { cause },
  );
}

export function errorOfInvalidReply(reason: string): GatewayError {
  return new GatewayError("upstream_error", "Upstream server error: its reply is not valid.", { cause: reason });
}

/** Why a stream that had begun could not end cleanly. @param toClientError classifies an error event of the upstream */
export function errorOfProblem(
  problem: StreamProblem,
  toClientError: (error: UpstreamError) => GatewayError,
): GatewayError {
  switch (problem.kind) {
    case "upstream-error":
      return toClientError(problem.error);
    case "failure":
      return errorOfFailure(problem.failure);
    case "violation":
      return errorOfInvalidReply(problem.reason);
    case "truncated":
      return new GatewayError("upstream_error", "Upstream connection error: the reply ended before it was complete.", {
        cause: problem.reason,
      });
    default:
      return problem satisfies never;
  }
}

/** What a client that is still there is told when the gateway itself ended its call. */
export function errorOfStop(reason: "shutting-down" | "revoked" | "overloaded"): GatewayError {
  if (reason === "overloaded") return tooManyBytes();
  if (reason === "revoked") return new GatewayError("key_suspended", "The API key of this call has been revoked.");
  return new GatewayError("shutting_down", "Service unavailable: the gateway is shutting down. Try again.");
}

export function labelOfError({ kind }: UpstreamError): AttemptLabel {
  return upstreamErrors[kind].label;
}

export function labelOfFailure(failure: UpstreamFailure): AttemptLabel {
  if (isConnectFailure(failure)) return "connect_failure";
  return failure.kind === "broken" ? "cut" : "timeout";
}

/** The upstream never got the request: too slow to connect is no slow reply, whatever the client is told. */
export function isConnectFailure({ kind }: UpstreamFailure): boolean {
  return kind === "connect" || kind === "connect-timeout" || kind === "egress";
}
