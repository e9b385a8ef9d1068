/**
 * The data port: an HTTP/1.1 server whose limits hold before any of our code sees a request.
 *
 * It serves nothing but the interface and decides nothing about it: every well-formed request goes to one handler,
 * one at a time for each connection, so that a pipeline of requests cannot run ahead of its answers. What is not
 * well-formed HTTP is answered here and the connection closed. Draining: keep accepting while load balancers have not
 * noticed, then let requests end, also those on kept connections, and cut what is left with an error of its format.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, Server as NetServer, type Socket } from "node:net";
import { setTimeout as delay, setImmediate as nextImmediate } from "node:timers/promises";
import { GatewayError } from "./errors.ts";
import type { TrustedProxies } from "./http/client-address.ts";
import { closePolitely } from "./http/close-politely.ts";
import { ConnectionsByAddress } from "./http/connections-by-address.ts";
import type { DataCertificate } from "./http/data-certificate.ts";
import { hasHeader } from "./http/header-values.ts";
import type { ProxyLimits } from "./limits.ts";
import { renderError } from "./protocols/render-error.ts";
import type { ListenAddress } from "./settings.ts";

/** One request and its response. */
export class Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The client waits for `100 Continue` before it sends the body. */
  readonly expectsContinue: boolean;
  #listener: (() => void) | undefined;

  constructor(request: IncomingMessage, response: ServerResponse, expectsContinue: boolean) {
    this.request = request;
    this.response = response;
    this.expectsContinue = expectsContinue;
  }

  /**
   * Has the last listener given called when the response has ended or its connection is gone; none when undefined.
   *
   * A method, for speed: V8 puts a function that is written where it is assigned to a property among the old objects,
   * and such a one keeps its whole call in memory until the next full collection. Measured: 14 KB of each call.
   */
  whenClosed(listener: (() => void) | undefined): void {
    this.#listener = listener;
  }

  closed(): void {
    this.#listener?.();
  }
}

export interface ServerOptions {
  readonly limits: ProxyLimits;
  readonly trustedProxies: TrustedProxies;
  /** Undefined: plain HTTP. */
  readonly certificate: DataCertificate | undefined;
  /** Must end the response; must not throw. */
  readonly handle: (exchange: Exchange) => Promise<void>;
  readonly nextRequestId: () => string;
}

/** Requests of one connection that wait for the one before them; more are answered by closing it. */
const pipelinedMax = 64;
/** Requests that were cut settle before they are answered, and an estimate may take up to five seconds. */
const cutGraceMs = 6_000;

interface Connection {
  /** The request that is being answered. */
  current: Exchange | undefined;
  /** The last request whose head has arrived. */
  latest: Exchange | undefined;
  /** What came behind the last whole request and is no HTTP: answered in its turn. */
  failure: Error | undefined;
  readonly waiting: Exchange[];
}

export class DataServer {
  readonly #options: ServerOptions;
  readonly #server: Server;
  readonly #connections = new WeakMap<Socket, Connection>();
  readonly #byAddress: ConnectionsByAddress;
  readonly #upgradesAsked = new WeakSet<IncomingMessage>();
  #openRequests = 0;
  #isDraining = false;
  #onIdle: (() => void) | undefined;

  constructor(options: ServerOptions) {
    this.#options = options;
    const { limits, certificate } = options;
    this.#byAddress = new ConnectionsByAddress(limits.connectionsPerAddressMax, options.trustedProxies);
    const settings = {
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.bodyTimeoutMs,
      connectionsCheckingInterval: limits.connectionsCheckMs,
      keepAliveTimeout: limits.keepAliveTimeoutMs,
      maxHeaderSize: limits.headerBytesMax,
      // Node would answer by itself, out of turn, and go on with what stands behind: `header-rules` judges `Host`.
      requireHostHeader: false,
      insecureHTTPParser: false,
      // Nothing is upgraded, but the parser drops what stands behind such a request: its connection must end.
      shouldUpgradeCallback: (request: IncomingMessage): boolean => {
        this.#upgradesAsked.add(request);
        return false;
      },
    };
    if (certificate === undefined) this.#server = createServer(settings);
    else {
      const server = createTlsServer({ ...settings, handshakeTimeout: limits.headersTimeoutMs });
      certificate.serve((pair) => server.setSecureContext(pair));
      this.#server = server;
    }
    // Node drops headers beyond its own count silently; the bytes are bounded and `header-rules` counts the lines.
    this.#server.maxHeadersCount = 0;
    this.#server.maxConnections = limits.connectionsMax;
    this.#server.on("connection", (socket: Socket) => this.#count(socket));
    const enqueue = (request: IncomingMessage, response: ServerResponse): void =>
      this.#enqueue(new Exchange(request, response, false));
    this.#server.on("request", enqueue);
    this.#server.on("checkContinue", (request, response) => this.#enqueue(new Exchange(request, response, true)));
    // `header-rules` refuses what else is expected, in its turn.
    this.#server.on("checkExpectation", enqueue);
    this.#server.on("connect", (_request, socket) => this.#refuseConnect(socket as Socket));
    this.#server.on("clientError", (error, socket) => this.#clientError(error, socket as Socket));
  }

  /** Requests that have begun and not ended. */
  get openRequests(): number {
    return this.#openRequests;
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  listen(address: ListenAddress, sharePort: boolean): Promise<ListenAddress> {
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen({ host: address.host, port: address.port, reusePort: sharePort, backlog: 1024 }, () => {
        this.#server.off("error", reject);
        const bound = this.#server.address() as AddressInfo;
        resolve({ host: address.host, port: bound.port });
      });
    });
  }

  /**
   * Ends the port's life in order.
   *
   * @param cut called when `drainTimeoutMs` is over: must make the open requests end soon
   */
  async drain(cut: () => void): Promise<void> {
    const { limits } = this.#options;
    this.#isDraining = true;
    await delay(limits.endpointLagMs);
    // Nobody new from now on. Not `close` of an HTTP server, which would close kept connections at once, and under the
    // calls that are just arriving on them: while requests are open, kept ones are served once more and told.
    const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(this.#server, () => resolve()));
    if (!(await this.#isIdleWithin(limits.drainTimeoutMs))) {
      cut();
      await this.#isIdleWithin(cutGraceMs);
    }
    this.#server.closeAllConnections();
    await closed;
    // Ends the timers of the HTTP server.
    this.#server.close();
    this.#options.certificate?.close();
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

  /** What is too many of one address is closed without an answer, as what is too many of all is. */
  #count(socket: Socket): void {
    const place = this.#byAddress.opened(socket.remoteAddress);
    if (place === false) socket.destroy();
    else if (place !== undefined) socket.on("close", () => this.#byAddress.closed(place));
  }

  #enqueue(exchange: Exchange): void {
    const { socket } = exchange.request;
    let connection = this.#connections.get(socket);
    if (connection === undefined) {
      connection = { current: undefined, latest: undefined, failure: undefined, waiting: [] };
      this.#connections.set(socket, connection);
    }
    connection.latest = exchange;
    if (connection.current === undefined) this.#serve(exchange, connection);
    else if (connection.waiting.length < pipelinedMax) connection.waiting.push(exchange);
    else socket.destroy();
  }

  #serve(exchange: Exchange, connection: Connection): void {
    const { request, response } = exchange;
    // Whoever left, or was told that the last answer was the last, gets nothing more executed.
    if (request.socket.destroyed || request.socket.writableEnded) {
      connection.waiting.length = 0;
      return;
    }
    connection.current = exchange;
    this.#openRequests += 1;
    const asksUpgrade = hasHeader(request.rawHeaders, "upgrade") && this.#upgradesAsked.has(request);
    if (this.#isDraining || asksUpgrade) response.setHeader("connection", "close");
    response.on("close", () => {
      exchange.closed();
      this.#openRequests -= 1;
      if (this.#openRequests === 0) this.#onIdle?.();
      connection.current = undefined;
      const next = connection.waiting.shift();
      if (next !== undefined) this.#serve(next, connection);
      else if (connection.failure !== undefined) this.#clientError(connection.failure, request.socket);
    });
    this.#options.handle(exchange).catch(() => exchange.request.socket.destroy());
  }

  /** Node has let go of the socket: nothing else listens to its errors, and no answer can be put in front of another. */
  #refuseConnect(socket: Socket): void {
    socket.on("error", () => socket.destroy());
    if (this.#connections.get(socket)?.current === undefined) {
      const error = new GatewayError("method_not_allowed", "CONNECT is not served here.", { allow: "GET, POST" });
      answerRaw(socket, error, this.#options.nextRequestId());
    } else socket.destroy();
  }

  /** What is not HTTP, too large or too slow never becomes a request; the shape is the commonest one. */
  #clientError(error: Error, socket: Socket): void {
    if (socket.destroyed || socket.writableEnded) return;
    const connection = this.#connections.get(socket);
    if (!socket.writable || (connection !== undefined && !isItsTurn(connection, error))) {
      if (!socket.writable || connection?.failure === undefined) socket.destroy();
      return;
    }
    const code = "code" in error ? error.code : undefined;
    answerRaw(socket, protocolError(code), this.#options.nextRequestId());
  }
}

/**
 * Whether the answer to broken bytes may be written now: not before the answers to the requests in front of them, which
 * come first (`failure` keeps the error until then), and not when the broken request has its answer already.
 */
function isItsTurn(connection: Connection, error: Error): boolean {
  const { current, latest, waiting } = connection;
  const isBroken = latest !== undefined && !latest.request.complete;
  if (current === undefined) return !isBroken;
  if (isBroken && current === latest) return !current.response.headersSent;
  if (isBroken) waiting.pop();
  connection.latest = undefined;
  connection.failure = error;
  return false;
}

function protocolError(code: unknown): GatewayError {
  if (code === "HPE_HEADER_OVERFLOW")
    return new GatewayError("headers_too_large", "The request headers are too large.");
  if (code === "ERR_HTTP_REQUEST_TIMEOUT")
    return new GatewayError("request_timeout", "The request took too long to arrive.");
  return new GatewayError("bad_request_header", "This is not a valid HTTP/1.1 request.");
}

function answerRaw(socket: Socket, error: GatewayError, requestId: string): void {
  const rendered = renderError(error, "OpenAI", { requestId });
  const headers = { ...rendered.headers, connection: "close", "content-length": String(rendered.body.length) };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `HTTP/1.1 ${rendered.status} Refused\r\n${lines.join("")}\r\n`;
  socket.write(Buffer.concat([Buffer.from(head), rendered.body]));
  // No timeout of the server watches this socket any more: it must not wait for the client's own end for ever.
  closePolitely(socket);
}
