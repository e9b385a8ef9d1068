/** Writes the response to a chat call in its client's format. */

import type { AdmittedChat } from "#proxy/dispatch/admitted-call";
import type { ClientWriter } from "#proxy/dispatch/client-writer";
import type { GatewayError } from "#proxy/errors";
import type { ClientFormat, ErrorContext, StreamFilter } from "#proxy/formats/format";
import { clientFormats } from "#proxy/formats/registry";
import { StreamOpening } from "#proxy/formats/stream/stream-opening";
import { newId } from "#proxy/neutral/ids/new-id";
import { StreamTranslator } from "#proxy/translate/stream-translator";

export class ChatWriter implements ClientWriter {
  /** What the client of a stream is told before its response begins. */
  readonly opening: StreamOpening;
  readonly #admitted: AdmittedChat;
  readonly #format: ClientFormat;

  constructor(admitted: AdmittedChat) {
    const { services, call, estimate } = admitted;
    this.#admitted = admitted;
    this.#format = clientFormats[call.endpoint.format];
    const nowSeconds = Math.floor(services.now() / 1_000);
    this.opening = new StreamOpening(Number(estimate.amounts.inputTokens), nowSeconds, newId, isOurs(admitted));
  }

  get contentType(): string {
    return this.#format.contentType(this.#admitted.call);
  }

  get failsCleanly(): boolean {
    return this.#format.failsCleanly;
  }

  signOfLife(filter: StreamFilter | undefined): Buffer {
    const numbered = filter instanceof StreamTranslator ? filter.signOfLife() : undefined;
    return numbered ?? this.#format.signOfLife(this.#admitted.call, this.opening, filter);
  }

  failureEvent(error: GatewayError, context: ErrorContext, filter: StreamFilter | undefined): Buffer {
    return filter instanceof StreamTranslator
      ? filter.fail(error, context)
      : this.#format.renderStreamError(error, context, filter, this.#admitted.call, this.opening);
  }
}

/** Whether no target of the route speaks the client's format itself. */
function isOurs({ route, snapshot, call }: AdmittedChat): boolean {
  return route.targets.every(({ channel: id }) => {
    const channel = snapshot.channel(id);
    return channel === undefined || channel.formats.every(({ type }) => type !== call.endpoint.format);
  });
}
