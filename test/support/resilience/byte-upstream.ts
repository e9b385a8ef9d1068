/**
 * An upstream of bare bytes: hands each request to a script that owns the socket, so that it can say anything at all and
 * break off anywhere. Keeps connections open between requests, counts both, and tells when a connection was closed.
 */
import { createServer, type Server, type Socket } from "node:net";

export interface ByteRequest {
  readonly socket: Socket;
  /** Request line and headers. */
  readonly head: string;
  readonly body: Buffer;
  /** Number of the request on this upstream, from 0. */
  readonly index: number;
  /** Number of the request on its connection, from 0. */
  readonly indexOnConnection: number;
  /** `performance.now()` when the gateway closed or reset the connection; undefined while it is open. */
  closedAtMs: number | undefined;
}

export type ByteScript = (request: ByteRequest) => void;

/** A whole reply with `content-length`. */
export function reply(body: string | Buffer, status = "200 OK", headers = ""): Buffer {
  const bytes = Buffer.from(body);
  const head = `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\n${headers}content-length: ${bytes.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), bytes]);
}

export const streamHead = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";

/** One chunk of a chunked body; empty text ends the body. */
export function chunk(text: string | Buffer): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from("\r\n")]);
}

export class ByteUpstream {
  readonly requests: ByteRequest[] = [];
  connectionCount = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #script: ByteScript;
  #headScript: ((socket: Socket) => void) | undefined;
  #port = 0;

  private constructor(script: ByteScript) {
    this.#script = script;
    this.#server = createServer({ allowHalfOpen: true }, (socket) => this.#accept(socket));
  }

  static async start(script: ByteScript = (request) => request.socket.write(reply("{}"))): Promise<ByteUpstream> {
    const upstream = new ByteUpstream(script);
    await new Promise<void>((resolve, reject) => {
      upstream.#server.once("error", reject).listen(0, "127.0.0.1", resolve);
    });
    const address = upstream.#server.address();
    upstream.#port = typeof address === "object" && address !== null ? address.port : 0;
    return upstream;
  }

  get port(): number {
    return this.#port;
  }

  get openConnections(): number {
    return this.#sockets.size;
  }

  /** What the next requests get. */
  replyWith(script: ByteScript): void {
    this.#script = script;
    this.#headScript = undefined;
    this.requests.length = 0;
  }

  /** From now on the next requests are answered when their head has come, and the rest is never read. */
  replyToHeadWith(script: (socket: Socket) => void): void {
    this.#headScript = script;
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #accept(socket: Socket): void {
    this.connectionCount += 1;
    this.#sockets.add(socket);
    socket.setNoDelay(true);
    let received: Buffer = Buffer.alloc(0);
    const own: ByteRequest[] = [];
    const closed = (): void => {
      const now = performance.now();
      for (const request of own) request.closedAtMs ??= now;
    };
    socket.on("error", closed);
    socket.on("end", () => {
      closed();
      socket.end();
    });
    socket.on("close", () => {
      closed();
      this.#sockets.delete(socket);
    });
    socket.on("data", (bytes) => {
      if (this.#headScript !== undefined) {
        socket.pause();
        this.#headScript(socket);
        return;
      }
      received = received.length === 0 ? bytes : Buffer.concat([received, bytes]);
      for (;;) {
        const taken = takeRequest(received);
        if (taken === undefined) return;
        received = taken.rest;
        const request: ByteRequest = {
          socket,
          head: taken.head,
          body: taken.body,
          index: this.requests.length,
          indexOnConnection: own.length,
          closedAtMs: undefined,
        };
        own.push(request);
        this.requests.push(request);
        this.#script(request);
      }
    });
  }
}

function takeRequest(bytes: Buffer): { head: string; body: Buffer; rest: Buffer } | undefined {
  const headEnd = bytes.indexOf("\r\n\r\n");
  if (headEnd < 0) return undefined;
  const head = bytes.subarray(0, headEnd).toString("latin1");
  const length = Number(/\r\ncontent-length: *([0-9]+)/i.exec(head)?.[1] ?? 0);
  const end = headEnd + 4 + length;
  if (bytes.length < end) return undefined;
  return { head, body: bytes.subarray(headEnd + 4, end), rest: bytes.subarray(end) };
}
