/** Classifies an attempt that failed before the client got a byte, so that failover can decide about it. */
import { type FailedAttempt, failedByError } from "#proxy/route/failover";
import type { AttemptOutcome } from "#proxy/upstream/attempt-outcome";
import { isConnectFailure } from "#proxy/upstream/describe-outcome";
import type { UpstreamFailure } from "#proxy/upstream/upstream-exchange";

/** What an attempt that failed before the client got a byte means for failover, whatever was asked. */
export function failedAttempt(
  outcome: Extract<AttemptOutcome, { kind: "upstream-error" | "failure" | "invalid" }>,
): FailedAttempt {
  switch (outcome.kind) {
    case "upstream-error":
      return failedByError(outcome.error);
    case "failure":
      return failedByFailure(outcome.failure);
    case "invalid":
      return invalidReply;
    default:
      return outcome satisfies never;
  }
}

/** A reply that is not of its format. */
export const invalidReply: FailedAttempt = { condition: "ServerError", status: undefined };

function failedByFailure(failure: UpstreamFailure): FailedAttempt {
  const isTimeout = !isConnectFailure(failure) && failure.kind.endsWith("timeout");
  return { condition: isTimeout ? "Timeout" : "ConnectFailure", status: undefined };
}
