/**
 * Writes the stream that the client of one call gets, whichever target replies.
 *
 * While nothing goes to the client for `timeouts.clientSilence` it sends a sign of life, also before the first event,
 * so that no load balancer between them closes the connection. That begins the response with status 200: a later
 * failure is reported by the format's failure event, and another target may still reply as long as no part of a reply
 * was sent. `serve-call.ts` makes one for each streamed call and closes it.
 */

import type { GatewayError } from "#proxy/errors";
import type { StreamFilter } from "#proxy/formats/format";
import { armDeadline, type Deadline } from "#proxy/runtime/deadlines";
import { ClientStream } from "#proxy/upstream/client/client-stream";
import type { RunningAttempt } from "#proxy/upstream/running-attempt";
import type { AdmittedCall } from "./admitted-call.ts";
import type { ClientWriter } from "./client-writer.ts";

const nothing = Buffer.alloc(0);

export class ResponseStream {
  readonly client: ClientStream;
  readonly #admitted: AdmittedCall;
  readonly #writer: ClientWriter;
  #attempt: RunningAttempt | undefined;
  /** When the client heard something last; monotonic. */
  #heardMs = performance.now();
  #silence: Deadline | undefined;

  constructor(admitted: AdmittedCall, writer: ClientWriter) {
    const { exchange, services, responseHeaders } = admitted;
    this.#admitted = admitted;
    this.#writer = writer;
    const fixed = ["cache-control", "no-cache", "x-accel-buffering", "no"];
    this.client = new ClientStream(
      exchange.response,
      writer.contentType,
      [...responseHeaders, ...fixed],
      services.limits,
    );
    if (writer.signOfLife !== undefined) this.#watch(services.limits.clientSilenceMs);
  }

  /** The attempt that may reply now. */
  follow(attempt: RunningAttempt): void {
    this.#attempt = attempt;
    this.client.listenWith({
      onDrain: () => attempt.resume(),
      onSlowReader: () => attempt.stop("slow-reader"),
    });
  }

  /** A piece of a reply has gone out. */
  heard(): void {
    this.#heardMs = performance.now();
  }

  /**
   * Tells the failure and ends the stream: cleanly where the format has a failure event that its clients read.
   *
   * @param filter of what had gone out; undefined when no reply had begun
   * @param rest as of `ClientStream.endFailed`
   */
  endFailed(error: GatewayError, filter: StreamFilter | undefined, rest: "sent" | "withheld"): Promise<void> {
    const { call, record } = this.#admitted;
    this.close();
    const failureEvent = this.#writer.failureEvent(error, { requestId: record.requestId, model: call.model }, filter);
    return this.client.endFailed(failureEvent, rest, this.#writer.failsCleanly);
  }

  /** No more signs of life. */
  close(): void {
    this.#silence?.cancel();
    this.#silence = undefined;
    this.client.release();
  }

  #watch(inMs: number): void {
    const { clientSilenceMs } = this.#admitted.services.limits;
    if (clientSilenceMs > 0) this.#silence = armDeadline(clientSilenceMs, () => this.#whenDue(), inMs);
  }

  /** One deadline that looks how long ago the client heard something, rather than one for each piece. */
  #whenDue(): void {
    const { clientSilenceMs } = this.#admitted.services.limits;
    const leftMs = this.#heardMs + clientSilenceMs - performance.now();
    if (leftMs <= 0) this.#breakSilence();
    this.#watch(leftMs <= 0 ? clientSilenceMs : leftMs);
  }

  #breakSilence(): void {
    this.#heardMs = performance.now();
    if (this.#attempt?.isOver === true && this.client.hasBegun) return;
    this.client.writeSignOfLife(() => this.#writer.signOfLife?.(this.#attempt?.openFilter) ?? nothing);
  }
}
