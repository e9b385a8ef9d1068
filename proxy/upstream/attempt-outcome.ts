/** How an attempt may end; what each end means to the client and to failover, `describe-outcome.ts` and `serve-chat.ts` say. */
import type { ReplyReading, StreamMeter, UpstreamError } from "#proxy/formats/format";
import type { UpstreamFailure } from "./upstream-exchange.ts";

export type AttemptOutcome =
  /** `headers`: those that may pass, names and values in turn; `lost`: what of the answer the body cannot say. */
  | {
      readonly kind: "reply";
      readonly body: Buffer;
      readonly reading: ReplyReading;
      readonly lost: readonly string[];
      readonly headers: readonly string[];
    }
  /**
   * Everything went to the client that could; `problem` says why the stream may not end cleanly. `reply`: the upstream's
   * whole one, where it did not stream.
   */
  | {
      readonly kind: "streamed";
      readonly meter: StreamMeter;
      readonly problem: StreamProblem | undefined;
      readonly reply?: Buffer;
    }
  /** `meter`: of what was generated before, here and in the two below. */
  | { readonly kind: "upstream-error"; readonly error: UpstreamError; readonly meter?: StreamMeter | undefined }
  | { readonly kind: "failure"; readonly failure: UpstreamFailure; readonly meter?: StreamMeter | undefined }
  /**
   * Success by its status, but not a reply of this format. Oversized ones were generated, and nobody reads on to where
   * they are counted.
   */
  | {
      readonly kind: "invalid";
      readonly reason: string;
      readonly meter?: StreamMeter | undefined;
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
  /** The upstream ended its body without an error and before the end of its answer. */
  | { readonly kind: "truncated"; readonly reason: string };

/** Why a stream that is over may not end cleanly; undefined when it may. */
export function problemOf(meter: StreamMeter): StreamProblem | undefined {
  if (meter.error !== undefined) return { kind: "upstream-error", error: meter.error };
  if (meter.violation !== undefined) return { kind: "violation", reason: meter.violation };
  if (meter.isComplete) return undefined;
  return { kind: "truncated", reason: `expected the end of the answer, the body ended behind ${meter.position}` };
}
