/** The proxy's own HTTP/1.1 server on a free port, with a handler of the test's in place of the pipeline. */

import type { Exchange } from "#proxy/http1/server/exchange";
import { defaultLimits, type ProxyLimits } from "#proxy/limits";
import { DataServer, type ServerOptions } from "#proxy/pipeline/data-server";

export interface Http1ServerOptions {
  readonly handle: (exchange: Exchange) => Promise<void> | void;
  readonly limits?: Partial<ProxyLimits>;
  readonly earlyBytesMax?: number;
  readonly tls?: { readonly key: string; readonly cert: string };
}

export class Http1Server {
  readonly port: number;
  /** What it logged. */
  readonly faults: readonly string[];
  readonly #server: DataServer;
  readonly #exchanges: Set<Exchange>;

  private constructor(server: DataServer, port: number, exchanges: Set<Exchange>, faults: readonly string[]) {
    this.#server = server;
    this.port = port;
    this.#exchanges = exchanges;
    this.faults = faults;
  }

  static async start({ handle, limits, earlyBytesMax, tls }: Http1ServerOptions): Promise<Http1Server> {
    const exchanges = new Set<Exchange>();
    const faults: string[] = [];
    let ids = 0;
    const options: ServerOptions = {
      limits: { ...defaultLimits, endpointLagMs: 0, drainTimeoutMs: 0, ...limits },
      ...(earlyBytesMax === undefined ? {} : { earlyBytesMax }),
      trustedProxies: { hops: 0, cidrs: [] },
      certificate: tls && {
        serve: (use) => use({ key: Buffer.from(tls.key), cert: Buffer.from(tls.cert) }),
        close: () => {},
      },
      handle: async (exchange) => {
        exchanges.add(exchange);
        exchange.response.once("close", () => exchanges.delete(exchange));
        await handle(exchange);
      },
      nextRequestId: () => {
        ids += 1;
        return `request-${ids}`;
      },
      log: { warn: (message) => void faults.push(message), error: (message) => void faults.push(message) },
    };
    const server = new DataServer(options);
    const { port } = await server.listen({ host: "127.0.0.1", port: 0 }, false);
    return new Http1Server(server, port, exchanges, faults);
  }

  get openRequests(): number {
    return this.#server.openRequests;
  }

  /** Ends when what is open has ended, or its time is over. */
  drain(): Promise<void> {
    return this.#server.drain({ onClosed: () => {}, cut: () => {} });
  }

  /** Cuts what is open. */
  close(): Promise<void> {
    for (const { response } of [...this.#exchanges]) response.destroy();
    return this.drain();
  }
}
