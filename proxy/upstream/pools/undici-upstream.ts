/** Reaches a channel through a proxy (`proxyURL`): undici speaks `CONNECT`, and this file makes an `Upstream` of it. */
import type { IncomingHttpHeaders } from "node:http";
import { Readable } from "node:stream";
import type { Dispatcher } from "undici";
import { ConnectTimeoutError } from "#proxy/http1/client/connect-timeout-error";
import type { SentRequest, StreamedBody, Upstream, UpstreamHandler } from "#proxy/http1/client/upstream";
import { armDeadline, type Deadline } from "#proxy/runtime/deadlines";

export class UndiciUpstream implements Upstream {
  readonly #origin: string;
  readonly #dispatcher: Dispatcher;

  constructor(origin: string, dispatcher: Dispatcher) {
    this.#origin = origin;
    this.#dispatcher = dispatcher;
  }

  send(request: SentRequest, handler: UpstreamHandler): void {
    const tunnel = new Tunnel(request.connectTimeoutMs, this.#origin, handler);
    try {
      this.#dispatcher.dispatch(
        {
          origin: this.#origin,
          path: request.path,
          method: request.method ?? "POST",
          headers: [...(request.fixedHeaders ?? []), ...request.headers, ...lengthHeader(request)],
          body: bodyOf(request),
        },
        {
          onRequestStart: (controller) => {
            if (!tunnel.isOpen()) controller.abort(new Error("the tunnel was not open in time"));
            else
              handler.onStart({
                abort: () => controller.abort(new Error("the exchange was ended by the gateway")),
                pause: () => controller.pause(),
                resume: () => controller.resume(),
              });
          },
          onResponseStart: (_controller, status, headers) => handler.onHead(status, flatHeaders(headers)),
          onResponseData: (_controller, chunk) => handler.onData(chunk),
          onResponseEnd: () => handler.onEnd(),
          onResponseError: (_controller, error) => tunnel.failed(error),
        },
      );
    } catch (error) {
      tunnel.failed(error instanceof Error ? error : new Error(String(error)));
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

/** The way through the proxy, for one request: the request fails when it takes too long. */
class Tunnel {
  readonly #handler: UpstreamHandler;
  #deadline: Deadline | undefined;
  #isLate = false;

  constructor(timeoutMs: number, origin: string, handler: UpstreamHandler) {
    this.#handler = handler;
    if (timeoutMs === 0) return;
    this.#deadline = armDeadline(timeoutMs, () => {
      this.#isLate = true;
      handler.onError(new ConnectTimeoutError(origin, timeoutMs));
    });
  }

  /** @returns false when nobody waits any more */
  isOpen(): boolean {
    this.#deadline?.cancel();
    return !this.#isLate;
  }

  failed(error: Error): void {
    if (this.isOpen()) this.#handler.onError(error);
  }
}

/** undici counts a body that is at hand itself. */
function lengthHeader({ body }: SentRequest): string[] {
  return Buffer.isBuffer(body) ? [] : ["content-length", String(body.length)];
}

function bodyOf({ body }: SentRequest): Buffer | Readable | null {
  if (body.length === 0) return null;
  return Buffer.isBuffer(body) ? body : Readable.from(ownedChunks(body), { objectMode: false });
}

/** undici asks for a piece before the one before it has been written: each needs memory of its own. */
async function* ownedChunks(body: StreamedBody): AsyncGenerator<Buffer> {
  for await (const chunk of body.chunks()) yield Buffer.from(chunk);
}

function flatHeaders(headers: IncomingHttpHeaders): string[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().flatMap((each) => [name, each]),
  );
}
