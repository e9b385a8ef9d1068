/** A channel that is reached through a proxy (`proxyURL`): undici speaks `CONNECT`, this makes an `Upstream` of it. */
import type { IncomingHttpHeaders } from "node:http";
import type { Dispatcher } from "undici";
import type { SentRequest, Upstream, UpstreamHandler } from "./upstream.ts";

export class UndiciUpstream implements Upstream {
  readonly #origin: string;
  readonly #dispatcher: Dispatcher;

  constructor(origin: string, dispatcher: Dispatcher) {
    this.#origin = origin;
    this.#dispatcher = dispatcher;
  }

  send(request: SentRequest, handler: UpstreamHandler): void {
    try {
      this.#dispatcher.dispatch(
        {
          origin: this.#origin,
          path: request.path,
          method: request.method ?? "POST",
          headers: [...request.headers],
          body: request.body.length === 0 ? null : request.body,
        },
        {
          onRequestStart: (controller) =>
            handler.onStart({
              abort: () => controller.abort(new Error("the exchange was ended by the gateway")),
              pause: () => controller.pause(),
              resume: () => controller.resume(),
            }),
          onResponseStart: (_controller, status, headers) => handler.onHead(status, flatHeaders(headers)),
          onResponseData: (_controller, chunk) => handler.onData(chunk),
          onResponseEnd: () => handler.onEnd(),
          onResponseError: (_controller, error) => handler.onError(error),
        },
      );
    } catch (error) {
      handler.onError(error instanceof Error ? error : new Error(String(error)));
    }
  }

  close(): void {
    // Graceful: resolves when the last request has ended. A failure to close is a socket already gone.
    this.#dispatcher.close().catch(() => {});
  }

  async destroy(): Promise<void> {
    await this.#dispatcher.destroy();
  }
}

function flatHeaders(headers: IncomingHttpHeaders): string[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().flatMap((each) => [name, each]),
  );
}
