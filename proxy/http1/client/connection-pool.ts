/**
 * Our own HTTP/1.1 client: the connections to one origin, each with one request at a time.
 *
 * Why not undici (docs/design/requests.md 5). Measured: a bare chain of `node:http`, one body collected and one reply
 * passed on costs 8 % less CPU a request over a client like this; the gateway allocates 70 KB a request, not 97. And a
 * rule that undici does not keep: a connection whose request was not written whole is never used again, so that an
 * upstream that responds early and stops reading holds nobody else. A gateway needs little: POST, one body of known
 * length, no redirects, no pipelining, no decompression. What it needs is in this package, strict and tested at every cut
 * (`wire/message-parser.ts`). Channels reached through a proxy (`CONNECT`) keep undici.
 *
 * A request takes the idle connection that was used last, else opens one of its own; how many there may be is bounded
 * by the requests in flight. Idle ones are closed before the upstream does, as far as it tells.
 */
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from "node:net";
import { connect as connectTls, type ConnectionOptions as TlsOptions } from "node:tls";
import { ConnectTimeoutError } from "./connect-timeout-error.ts";
import { Connection, type PooledConnectionOwner, type SocketHandlers } from "./connection.ts";
import type { SentRequest, Upstream, UpstreamHandler } from "./upstream.ts";

/** Has the listener called once `inMs` are over, unless it is cancelled before. A deadline must not keep a process alive. */
export type ArmDeadline = (inMs: number, onExpired: () => void) => { cancel(): void };

export interface ConnectionPoolOptions {
  /** `http:` or `https:`, a host, perhaps a port; nothing else of it is used. */
  readonly origin: URL;
  readonly headBytesMax: number;
  readonly lookup: LookupFunction;
  /** For waits that nearly always are met: one timer for each of them would cost more than the wait. */
  readonly armDeadline: ArmDeadline;
  /** Called before each connect. @throws Error when this host must not be connected to */
  readonly checkHost: (hostname: string) => void;
  readonly tls: Pick<TlsOptions, "ca" | "cert" | "key" | "servername">;
}

/** What an upstream that says nothing about it is trusted to keep. */
const idleMsDefault = 4_000;
const idleMsMax = 600_000;
/** An upstream's own time is shortened by what a request may take on its way. */
const idleMarginMs = 1_000;
const sweepMs = 1_000;

/** All connections read into this: what arrives is used up before the next read. */
const readBuffer = Buffer.allocUnsafeSlow(64 * 1024);

interface IdleConnection {
  readonly connection: Connection;
  readonly untilMs: number;
}

export class ConnectionPool implements Upstream, PooledConnectionOwner {
  readonly #options: ConnectionPoolOptions;
  readonly #hostname: string;
  readonly #open = new Set<Connection>();
  /** The one used last is used first, so that a pool too large shrinks. */
  readonly #idle: IdleConnection[] = [];
  #sweep: ReturnType<ArmDeadline> | undefined;
  /** Of the last TLS handshake: the next one is shorter. */
  #session: Buffer | undefined;
  #isClosed = false;

  constructor(options: ConnectionPoolOptions) {
    this.#options = options;
    const { hostname } = options.origin;
    this.#hostname = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
  }

  send(request: SentRequest, handler: UpstreamHandler): void {
    const connection = this.#takeIdle() ?? this.#connect(request.connectTimeoutMs, handler);
    connection?.send(request, handler);
  }

  /** None whose time is over, though the sweep has yet to come: its upstream may be closing it just now. */
  #takeIdle(): Connection | undefined {
    for (let last = this.#idle.pop(); last !== undefined; last = this.#idle.pop()) {
      if (last.untilMs > performance.now()) return last.connection;
      last.connection.abort();
    }
    return undefined;
  }

  close(): void {
    this.#isClosed = true;
    this.#sweep?.cancel();
    for (const { connection } of this.#idle.splice(0)) connection.abort();
  }

  async destroy(): Promise<void> {
    this.close();
    for (const connection of [...this.#open]) connection.destroy(new Error("the gateway ends"));
  }

  onIdle(connection: Connection, keepAliveMs: number | undefined): void {
    const idleMs = keepAliveMs === undefined ? idleMsDefault : Math.min(keepAliveMs - idleMarginMs, idleMsMax);
    if (this.#isClosed || idleMs <= 0) {
      connection.abort();
      return;
    }
    this.#idle.push({ connection, untilMs: performance.now() + idleMs });
    this.#sweep ??= this.#options.armDeadline(sweepMs, this.#sweepIdle);
  }

  onClosed(connection: Connection): void {
    this.#open.delete(connection);
    const index = this.#idle.findIndex((entry) => entry.connection === connection);
    if (index >= 0) this.#idle.splice(index, 1);
  }

  readonly #sweepIdle = (): void => {
    const nowMs = performance.now();
    this.#sweep = undefined;
    for (const { connection, untilMs } of [...this.#idle]) if (untilMs <= nowMs) connection.abort();
    if (this.#idle.length > 0) this.#sweep = this.#options.armDeadline(sweepMs, this.#sweepIdle);
  };

  #connect(timeoutMs: number, handler: UpstreamHandler): Connection | undefined {
    try {
      this.#options.checkHost(this.#options.origin.hostname);
      return this.#openConnection(timeoutMs);
    } catch (error) {
      // Also for a certificate or key that cannot be used: the upstream is out of reach, and another may be tried.
      handler.onError(error instanceof Error ? error : new Error(String(error)));
      return undefined;
    }
  }

  /** @throws Error for options of TLS that cannot be used */
  #openConnection(timeoutMs: number): Connection {
    const { origin, headBytesMax, armDeadline } = this.#options;
    let deadline: ReturnType<ArmDeadline> | undefined;
    const connection = new Connection(
      origin.host,
      headBytesMax,
      (handlers) => {
        const socket = this.#openSocket({
          ...handlers,
          onReady: () => {
            deadline?.cancel();
            handlers.onReady();
          },
        });
        socket.once("close", () => deadline?.cancel());
        return socket;
      },
      this,
    );
    this.#open.add(connection);
    if (timeoutMs > 0) {
      deadline = armDeadline(timeoutMs, () => connection.destroy(new ConnectTimeoutError(origin.host, timeoutMs)));
    }
    return connection;
  }

  #openSocket({ onRead, onReady, onError }: SocketHandlers): Socket {
    const { origin, lookup, tls } = this.#options;
    const isTls = origin.protocol === "https:";
    const common = {
      host: this.#hostname,
      port: Number(origin.port) || (isTls ? 443 : 80),
      lookup,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: 60_000,
      onread: {
        buffer: readBuffer,
        callback: (bytes: number): boolean => {
          onRead(readBuffer.subarray(0, bytes));
          return true;
        },
      },
    };
    if (!isTls) return connectTcp(common, onReady).on("error", onError);
    const serverName = tls.servername ?? (isIP(this.#hostname) === 0 ? this.#hostname : undefined);
    const socket = connectTls(
      {
        ...common,
        ...tls,
        ALPNProtocols: ["http/1.1"],
        ...(serverName === undefined ? {} : { servername: serverName }),
        ...(this.#session === undefined ? {} : { session: this.#session }),
      },
      onReady,
    );
    socket.on("session", (session) => {
      this.#session = session;
    });
    return socket.on("error", (error) => {
      // A session that the upstream does not take any more must not be offered again.
      this.#session = undefined;
      onError(error);
    });
  }
}
