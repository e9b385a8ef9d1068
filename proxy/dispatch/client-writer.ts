/**
 * Defines what a client's response is written in, whichever endpoint it called: how it keeps quiet clients waiting, and
 * how it tells a failure once the status is sent.
 */
import type { GatewayError } from "#proxy/errors";
import type { ErrorContext, StreamFilter } from "#proxy/formats/format";

export interface ClientWriter {
  /** Of a successful response. */
  readonly contentType: string;
  /** Whether a stream ends cleanly behind its failure event (`ClientFormat.failsCleanly`). */
  readonly failsCleanly: boolean;
  /**
   * Writes a sign of life: whole frames that fit before the response and between any two of its events.
   * @param filter of the reply, once it has begun
   * Absent where the client's format has none: nothing is sent before the reply.
   */
  signOfLife?(filter: StreamFilter | undefined): Buffer;
  /**
   * The last bytes of a stream that failed after its status was sent; no terminator of success. Empty where the format has
   * no failure event.
   * @param filter undefined when no reply had begun
   */
  failureEvent(error: GatewayError, context: ErrorContext, filter: StreamFilter | undefined): Buffer;
}
