/**
 * A programmable upstream: replays given bytes and misbehaves by script; counts requests and records what it was sent
 * and when its connections closed. The oracle of promises such as "no unauthorised request reaches an upstream".
 *
 * A script is a reply or a function of the request; without one it answers 200 with `{}`. For natural answers of the
 * four chat formats use `examples/demo-upstream/server.ts`.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

export interface ScriptedReply {
  /** 200 when absent. */
  readonly status?: number;
  /** `content-type: application/json` when absent. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** The body goes out in pieces of this size, each in a packet of its own as far as the kernel allows. */
  readonly fragmentBytes?: number;
  /** Or in pieces that end at these offsets. */
  readonly fragmentAt?: readonly number[];
  /** `length`: with `content-length`; `chunked` (the default when cut or in pieces); `close`: ends with the connection. */
  readonly framing?: "length" | "chunked" | "close";
  readonly delayHeadMs?: number;
  /** Before each piece but the first. */
  readonly delayPieceMs?: number;
  /** The connection ends after this many bytes of the body. */
  readonly cutAt?: number;
  /** `fin` (default) or `reset`. */
  readonly cutWith?: "fin" | "reset";
  /** After this many bytes nothing more comes, and the connection stays open. */
  readonly stallAt?: number;
  /** These bytes instead of an HTTP reply, then FIN: for replies that no HTTP library would write. */
  readonly raw?: string | Buffer;
  /** Reset at once, before any byte. */
  readonly resetAtOnce?: boolean;
}

export interface ReceivedRequest {
  readonly method: string;
  readonly target: string;
  /** As sent: name, value, name, value ... */
  readonly rawHeaders: readonly string[];
  /** Lower-case names; repeated ones joined as Node does. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
  /** The body parsed; throws when it is not JSON. */
  json(): unknown;
  readonly receivedAtMs: number;
  /** When the connection was closed before the reply was complete (`performance.now()`); undefined while it is open or the reply was taken whole. */
  readonly abortedAtMs: number | undefined;
  /** When the reply was complete. */
  readonly finishedAtMs: number | undefined;
}

export type Script =
  | ScriptedReply
  | ((request: ReceivedRequest, index: number) => ScriptedReply | Promise<ScriptedReply>);

interface MutableRequest extends ReceivedRequest {
  abortedAtMs: number | undefined;
  finishedAtMs: number | undefined;
}

export class FakeUpstream {
  /** In order of arrival; a request is here once its body is complete. */
  readonly requests: ReceivedRequest[] = [];
  /** Connections ever opened. */
  connectionCount = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #script: Script;
  #port = 0;

  constructor(script: Script) {
    this.#script = script;
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch(() => response.destroy());
    });
    this.#server.on("connection", (socket) => {
      this.connectionCount += 1;
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket));
      socket.on("error", () => undefined);
    });
  }

  /** Starts on a free port of 127.0.0.1. */
  static async start(script: Script = { body: "{}" }): Promise<FakeUpstream> {
    const upstream = new FakeUpstream(script);
    await new Promise<void>((resolve, reject) => {
      upstream.#server.once("error", reject).listen(0, "127.0.0.1", resolve);
    });
    const address = upstream.#server.address();
    if (typeof address !== "object" || address === null) throw new Error("the fake upstream has no address");
    upstream.#port = address.port;
    return upstream;
  }

  get port(): number {
    return this.#port;
  }

  /** `http://127.0.0.1:PORT` */
  get origin(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Connections open now. */
  get openConnections(): number {
    return this.#sockets.size;
  }

  /** What the next requests get. */
  replyWith(script: Script): void {
    this.#script = script;
  }

  /** Forgets what was received; open connections stay. */
  forget(): void {
    this.requests.length = 0;
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const received = record(request, Buffer.concat(chunks));
    this.requests.push(received);
    response.on("finish", () => {
      received.finishedAtMs = performance.now();
    });
    response.on("close", () => {
      if (received.finishedAtMs === undefined) received.abortedAtMs = performance.now();
    });
    const script = this.#script;
    const reply = typeof script === "function" ? await script(received, this.requests.length - 1) : script;
    await send(reply, response);
  }
}

function record(request: IncomingMessage, body: Buffer): MutableRequest {
  return {
    method: request.method ?? "",
    target: request.url ?? "",
    rawHeaders: request.rawHeaders,
    headers: request.headers,
    body,
    json: () => JSON.parse(body.toString("utf8")),
    receivedAtMs: performance.now(),
    abortedAtMs: undefined,
    finishedAtMs: undefined,
  };
}

async function send(reply: ScriptedReply, response: ServerResponse): Promise<void> {
  const { socket } = response;
  if (reply.delayHeadMs !== undefined) await sleep(reply.delayHeadMs);
  if (reply.resetAtOnce === true) {
    socket?.resetAndDestroy();
    return;
  }
  if (reply.raw !== undefined) {
    socket?.end(reply.raw);
    return;
  }
  const body = Buffer.from(reply.body ?? "");
  const end = Math.min(body.length, reply.cutAt ?? body.length, reply.stallAt ?? body.length);
  const pieces = cutInPieces(body.subarray(0, end), reply);
  const isWhole = reply.cutAt === undefined && reply.stallAt === undefined;
  response.writeHead(reply.status ?? 200, {
    "content-type": "application/json",
    ...reply.headers,
    ...framingHeaders(reply, body, isWhole && pieces.length <= 1),
  });
  if (reply.framing === "close") response.shouldKeepAlive = false;
  for (const [index, piece] of pieces.entries()) {
    if (response.destroyed) return;
    if (index > 0) await (reply.delayPieceMs === undefined ? joinBatch() : sleep(reply.delayPieceMs));
    await written(response, piece);
  }
  if (isWhole) response.end();
  else if (reply.stallAt !== undefined) response.flushHeaders();
  else if (reply.cutWith === "reset") socket?.resetAndDestroy();
  else {
    response.flushHeaders();
    socket?.end();
  }
}

function framingHeaders(reply: ScriptedReply, body: Buffer, isOnePiece: boolean): Record<string, string> {
  const framing = reply.framing ?? (isOnePiece ? "length" : "chunked");
  if (framing === "length") return { "content-length": String(body.length) };
  return framing === "close" ? { connection: "close" } : { "transfer-encoding": "chunked" };
}

function cutInPieces(body: Buffer, reply: ScriptedReply): Buffer[] {
  const offsets =
    reply.fragmentAt ?? (reply.fragmentBytes === undefined ? [] : everyOffset(body.length, reply.fragmentBytes));
  const pieces: Buffer[] = [];
  let start = 0;
  for (const offset of [...offsets, body.length]) {
    if (offset > start && offset <= body.length) {
      pieces.push(body.subarray(start, offset));
      start = offset;
    }
  }
  return pieces;
}

function everyOffset(length: number, step: number): number[] {
  return Array.from({ length: Math.floor(length / step) }, (_, index) => (index + 1) * step);
}

function joinBatch(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Ends with the write or with the connection: a destroyed stream calls back too. */
function written(response: ServerResponse, piece: Buffer): Promise<void> {
  return new Promise((resolve) => {
    response.write(piece, () => resolve());
  });
}
