/**
 * Writes the stream that the client of one call gets, whichever target replies.
 *
 * While nothing goes to the client for `timeouts.clientSilence` it sends a sign of life, also before the first event,
 * so that no load balancer between them closes the connection. That begins the response with status 200: a later
 * failure is reported by the format's failure event, and another target may still reply as long as no part of a reply
 * was sent. `serve-chat.ts` makes one for each streamed call and closes it.
 */

import type { GatewayError } from "#proxy/errors";
import type { StreamFilter } from "#proxy/formats/format";
import { StreamOpening } from "#proxy/formats/stream/stream-opening";
import { newId } from "#proxy/neutral/ids/new-id";
import { spokenFormat } from "#proxy/route/select-target";
import { armDeadline, type Deadline } from "#proxy/runtime/deadlines";
import { StreamTranslator } from "#proxy/translate/stream-translator";
import type { Attempt } from "#proxy/upstream/attempt";
import { ClientStream } from "#proxy/upstream/client/client-stream";
import type { AdmittedCall } from "./admitted-call.ts";

export class ResponseStream {
  readonly client: ClientStream;
  readonly opening: StreamOpening;
  readonly #admitted: AdmittedCall;
  #attempt: Attempt | undefined;
  /** When the client heard something last; monotonic. */
  #heardMs = performance.now();
  #silence: Deadline | undefined;

  constructor(admitted: AdmittedCall) {
    const { exchange, services, format, call, responseHeaders, estimate } = admitted;
    this.#admitted = admitted;
    const contentType = format.contentType(call);
    const fixed = ["content-type", contentType, "cache-control", "no-cache", "x-accel-buffering", "no"];
    this.client = new ClientStream(exchange.response, [...responseHeaders, ...fixed], services.limits);
    const nowSeconds = Math.floor(services.now() / 1_000);
    this.opening = new StreamOpening(Number(estimate.amounts.inputTokens), nowSeconds, newId, isOurs(admitted));
    this.#watch(services.limits.clientSilenceMs);
  }

  /** The attempt that may reply now. */
  follow(attempt: Attempt): void {
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
    const { format, call, record } = this.#admitted;
    this.close();
    const context = { requestId: record.requestId, model: call.model };
    const failureEvent =
      filter instanceof StreamTranslator
        ? filter.fail(error, context)
        : format.renderStreamError(error, context, filter, call, this.opening);
    return this.client.endFailed(failureEvent, rest, format.failsCleanly);
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
    this.client.writeSignOfLife(() => this.#signOfLife());
  }

  #signOfLife(): Buffer {
    const { format, call } = this.#admitted;
    const filter = this.#attempt?.openFilter;
    const numbered = filter instanceof StreamTranslator ? filter.signOfLife() : undefined;
    return numbered ?? format.signOfLife(call, this.opening, filter);
  }
}

/** Whether no target of the route speaks the client's format itself. */
function isOurs({ route, snapshot, call }: AdmittedCall): boolean {
  return route.targets.every(({ channel: id }) => {
    const channel = snapshot.channel(id);
    return channel === undefined || spokenFormat(channel, call.endpoint.format)?.format !== call.endpoint.format;
  });
}
