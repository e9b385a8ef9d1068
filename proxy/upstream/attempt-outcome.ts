/**
 * Lists how an attempt may end. `describe-outcome.ts` and `serve-chat.ts` say what each end means to the client and to
 * failover.
 */
import type { ReplyReading, StreamFilter, UpstreamError } from "#proxy/formats/format";
import type { UpstreamFailure } from "./upstream-exchange.ts";

export type AttemptOutcome =
  /** `headers`: those that may pass, names and values alternating; `lost`: parts of the reply that the body cannot carry. */
  | {
      readonly kind: "reply";
      readonly body: Buffer;
      readonly reading: ReplyReading;
      readonly lost: readonly string[];
      readonly headers: readonly string[];
      /** Content type of the response; the client's usual one where absent. */
      readonly responseType?: string | undefined;
    }
  /**
   * Everything went to the client that could; `problem` says why the stream may not end cleanly. `reply`: the upstream's
   * whole one, where it did not stream.
   */
  | {
      readonly kind: "streamed";
      readonly filter: StreamFilter;
      readonly problem: StreamProblem | undefined;
      readonly reply?: Buffer;
    }
  /** `filter`: of what was generated before, here and in the two below. */
  | { readonly kind: "upstream-error"; readonly error: UpstreamError; readonly filter?: StreamFilter | undefined }
  | { readonly kind: "failure"; readonly failure: UpstreamFailure; readonly filter?: StreamFilter | undefined }
  /**
   * Success by its status, but not a reply of this format. Oversized ones were generated, and nobody reads on to where
   * they are counted.
   */
  | {
      readonly kind: "invalid";
      readonly reason: string;
      readonly filter?: StreamFilter | undefined;
      readonly isOversized?: boolean;
    }
  | {
      readonly kind: "stopped";
      readonly reason: StopReason;
      readonly filter: StreamFilter | undefined;
      readonly isSent: boolean;
    };

/** Why an attempt was ended though the upstream did nothing wrong; `overloaded`: there is no room for its reply. */
export type StopReason = "client-left" | "slow-reader" | "shutting-down" | "revoked" | "overloaded";

export type StreamProblem =
  | { readonly kind: "upstream-error"; readonly error: UpstreamError }
  | { readonly kind: "failure"; readonly failure: UpstreamFailure }
  | { readonly kind: "violation"; readonly reason: string }
  /** The upstream ended its body without an error and before the end of its reply. */
  | { readonly kind: "truncated"; readonly reason: string };

/** Why a stream that is over may not end cleanly; undefined when it may. */
export function problemOf(filter: StreamFilter): StreamProblem | undefined {
  if (filter.error !== undefined) return { kind: "upstream-error", error: filter.error };
  if (filter.violation !== undefined) return { kind: "violation", reason: filter.violation };
  if (filter.isComplete) return undefined;
  return { kind: "truncated", reason: `expected the end of the reply, the body ended behind ${filter.position}` };
}
