/** How an attempt may end; what each end means to the client and to failover, `describe-outcome.ts` and `serve-chat.ts` say. */
import type { ReplyReading, StreamMeter, UpstreamError } from "../protocols/chat-format.ts";
import type { UpstreamFailure } from "./upstream-exchange.ts";

export type AttemptOutcome =
  /** `headers`: those of the upstream that may pass, names and values in turn. */
  | {
      readonly kind: "reply";
      readonly body: Buffer;
      readonly reading: ReplyReading;
      readonly headers: readonly string[];
    }
  /** Everything went to the client that could; `problem` says why the stream may not end cleanly. */
  | { readonly kind: "streamed"; readonly meter: StreamMeter; readonly problem: StreamProblem | undefined }
  | { readonly kind: "upstream-error"; readonly error: UpstreamError }
  | { readonly kind: "failure"; readonly failure: UpstreamFailure }
  /**
   * Success by its status, but not a reply of this format; `reading` where it was generated and counted all the same.
   * Oversized ones were generated, and nobody reads on to where they are counted.
   */
  | {
      readonly kind: "invalid";
      readonly reason: string;
      readonly reading?: ReplyReading | undefined;
      readonly isOversized?: boolean;
    }
  | {
      readonly kind: "stopped";
      readonly reason: StopReason;
      readonly meter: StreamMeter | undefined;
      readonly isSent: boolean;
    };

/** Why an attempt was ended though the upstream did nothing wrong; `overloaded`: there is no room for its answer. */
export type StopReason = "client-left" | "slow-reader" | "shutting-down" | "revoked" | "overloaded";

export type StreamProblem =
  | { readonly kind: "upstream-error"; readonly error: UpstreamError }
  | { readonly kind: "failure"; readonly failure: UpstreamFailure }
  | { readonly kind: "violation"; readonly reason: string }
  | { readonly kind: "truncated" };

/** Why a stream that is over may not end cleanly; undefined when it may. */
export function problemOf(meter: StreamMeter): StreamProblem | undefined {
  if (meter.error !== undefined) return { kind: "upstream-error", error: meter.error };
  if (meter.violation !== undefined) return { kind: "violation", reason: meter.violation };
  return meter.isComplete ? undefined : { kind: "truncated" };
}
