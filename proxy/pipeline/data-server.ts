/**
 * Runs the data port: an HTTP/1.1 server whose limits hold before the pipeline sees a request.
 *
 * It serves only the gateway's interface and decides nothing about it: every well-formed request goes to one handler,
 * one at a time for each connection (`http1/server/client-connection.ts`). To drain, it keeps accepting until load
 * balancers have noticed, lets open requests end, also those on kept connections, and cuts the rest with an error of
 * their format.
 *
 * `proxy/http1/README.md` says why it is not `node:http` (docs/design/requests.md 5): 140 us of CPU a call over that,
 * 86 over this, where the bare proxy takes 147.
 */
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { setTimeout as delay, setImmediate as nextImmediate } from "node:timers/promises";
import { createServer as createTlsServer } from "node:tls";
import { renderError } from "#proxy/formats/render-error";
import type { TrustedProxies } from "#proxy/http/client-address";
import { ConnectionsByAddress } from "#proxy/http/connections-by-address";
import type { DataCertificate } from "#proxy/http/data-certificate";
import { gatewayErrorOf } from "#proxy/http/gateway-error-of";
import { ClientConnection, type ConnectionOwner } from "#proxy/http1/server/client-connection";
import type { Exchange } from "#proxy/http1/server/exchange";
import { httpDate } from "#proxy/http1/wire/http-date";
import type { HttpError } from "#proxy/http1/wire/http-error";
import type { ProxyLimits } from "#proxy/limits";
import type { Logger } from "#proxy/observe/logger";
import type { ListenAddress } from "#proxy/settings";

export interface ServerOptions {
  readonly limits: ProxyLimits;
  readonly trustedProxies: TrustedProxies;
  /** Undefined: plain HTTP. */
  readonly certificate: Pick<DataCertificate, "serve" | "close"> | undefined;
  /** Must end the response; must not throw. */
  readonly handle: (exchange: Exchange) => Promise<void>;
  readonly nextRequestId: () => string;
  readonly log: Pick<Logger, "warn" | "error">;
  /** Kept of what clients send behind requests that are being served, over all connections. Default 32 MiB. */
  readonly earlyBytesMax?: number;
}

/** What follows from the steps of a drain. */
export interface Drain {
  /** Nobody new is accepted: what would go on for long must be told. */
  readonly onClosed: () => void;
  /** `drainTimeoutMs` is over: must make the open requests end soon. */
  readonly cut: () => void;
}

/** Requests that were cut settle before their response ends, and an estimate may take up to five seconds. */
const cutGraceMs = 6_000;
/** Each client may send a little before it gets its response, and they may be many. */
const earlyBytesMax = 32 * 1024 * 1024;

export class DataServer implements ConnectionOwner {
  readonly limits: ProxyLimits;
  readonly #options: ServerOptions;
  readonly #server: Server;
  /** Those whose TLS is not agreed on yet as well. */
  readonly #sockets = new Set<Socket>();
  readonly #connections = new Set<ClientConnection>();
  readonly #byAddress: ConnectionsByAddress;
  #checking: NodeJS.Timeout | undefined;
  #openRequests = 0;
  #earlyBytes = 0;
  #isDraining = false;
  #onIdle: (() => void) | undefined;

  constructor(options: ServerOptions) {
    this.#options = options;
    this.limits = options.limits;
    const { limits, certificate } = options;
    this.#byAddress = new ConnectionsByAddress(limits.connectionsPerAddressMax, options.trustedProxies);
    const serve = (socket: Socket): void => void this.#connections.add(new ClientConnection(socket, this));
    if (certificate === undefined) this.#server = createServer({ noDelay: true }, serve);
    else {
      const settings = { noDelay: true, ALPNProtocols: ["http/1.1"], handshakeTimeout: limits.headersTimeoutMs };
      const server = createTlsServer(settings, serve);
      server.on("tlsClientError", (_error, socket) => socket.destroy());
      certificate.serve((pair) => server.setSecureContext(pair));
      this.#server = server;
    }
    this.#server.maxConnections = limits.connectionsMax;
    this.#server.on("connection", (socket: Socket) => this.#count(socket));
  }

  /** Requests that have begun and not ended. */
  get openRequests(): number {
    return this.#openRequests;
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  listen(address: ListenAddress, sharePort: boolean): Promise<ListenAddress> {
    this.#checking = setInterval(() => this.#check(), this.limits.connectionsCheckMs).unref();
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen({ host: address.host, port: address.port, reusePort: sharePort, backlog: 1024 }, () => {
        this.#server.off("error", reject);
        // For want of file descriptors, for example: nobody else's connection is the worse for it.
        const message = "a connection could not be accepted";
        this.#server.on("error", (error) => this.#options.log.warn(message, { error }));
        const bound = this.#server.address() as AddressInfo;
        resolve({ host: address.host, port: bound.port });
      });
    });
  }

  /** Ends the port's life in order. */
  async drain({ onClosed, cut }: Drain): Promise<void> {
    const { limits } = this;
    this.#isDraining = true;
    await delay(limits.endpointLagMs);
    // Nobody new from now on; while requests are open, kept connections are served once more and told.
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    onClosed();
    if (!(await this.#isIdleWithin(limits.drainTimeoutMs))) {
      cut();
      await this.#isIdleWithin(cutGraceMs);
    }
    for (const connection of this.#connections) connection.destroy();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
    clearInterval(this.#checking);
    this.#options.certificate?.close();
  }

  onExchange(exchange: Exchange): void {
    this.#openRequests += 1;
    this.#options.handle(exchange).catch(() => exchange.response.destroy());
  }

  onExchangeOver(): void {
    this.#openRequests -= 1;
    if (this.#openRequests === 0) this.#onIdle?.();
  }

  /** The shape is the commonest one: nobody knows which format was meant. */
  refusal(error: HttpError): Buffer {
    const rendered = renderError(gatewayErrorOf(error), "OpenAI", { requestId: this.#options.nextRequestId() });
    const length = String(rendered.body.length);
    const headers = { ...rendered.headers, date: httpDate(), connection: "close", "content-length": length };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const head = `HTTP/1.1 ${rendered.status} Refused\r\n${lines.join("")}\r\n`;
    return Buffer.concat([Buffer.from(head), rendered.body]);
  }

  onFault(error: unknown): void {
    this.#options.log.error("reading a request failed for an unexpected reason", { error });
  }

  onClosed(connection: ClientConnection): void {
    this.#connections.delete(connection);
  }

  tryKeep(bytes: number): boolean {
    if (this.#earlyBytes + bytes > (this.#options.earlyBytesMax ?? earlyBytesMax)) return false;
    this.#earlyBytes += bytes;
    return true;
  }

  onLetGo(bytes: number): void {
    this.#earlyBytes -= bytes;
  }

  /** Waits until no request is open, with all that has arrived looked at. @returns false when that took too long */
  async #isIdleWithin(timeoutMs: number): Promise<boolean> {
    const untilMs = performance.now() + timeoutMs;
    while (true) {
      // The sockets are read between this turn of the event loop and the next.
      await nextImmediate();
      await nextImmediate();
      if (this.#openRequests === 0) return true;
      const leftMs = untilMs - performance.now();
      if (leftMs <= 0) return false;
      const waiting = new AbortController();
      const idle = new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
      await Promise.race([idle, delay(leftMs, undefined, { signal: waiting.signal }).catch(() => {})]);
      waiting.abort();
    }
  }

  /** Every connection that has been open so far; one pass over 20,000 of them takes a millisecond. */
  #check(): void {
    const nowMs = performance.now();
    for (const connection of this.#connections) connection.check(nowMs);
  }

  /** What is too many of one address is closed without a response, as what is too many of all is. */
  #count(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on("close", () => this.#sockets.delete(socket));
    const place = this.#byAddress.opened(socket.remoteAddress);
    if (place === false) socket.destroy();
    else if (place !== undefined) socket.on("close", () => this.#byAddress.closed(place));
  }
}
