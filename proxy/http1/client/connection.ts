/**
 * One connection to an upstream: at most one request on its way, one response behind it.
 *
 * Invariants: a connection serves another request only after a response that was whole, to a request that was written
 * whole, with nothing behind it; everything else closes it. So does the refusal of a long body: it may have come before
 * the body was read, and what the kernel took of it cannot be told. Hence no byte of one call ever reaches another, and
 * an upstream that responds early and stops reading holds nobody else. The same holds of a body that is sent piece by piece
 * (`body-sender.ts`) and fails on the way. What is read lies in memory that all connections share, because it is consumed
 * before the next read begins.
 */
import type { Socket } from "node:net";
import type { MessageFraming } from "#proxy/http1/wire/message-framing";
import { MessageParser } from "#proxy/http1/wire/message-parser";
import { type ResponseHead, responseKind } from "#proxy/http1/wire/response-head";
import { BodySender } from "./body-sender.ts";
import type { SentRequest, StreamedBody, UpstreamControl, UpstreamHandler } from "./upstream.ts";
import { writeRequestHead } from "./write-request-head.ts";

export interface PooledConnectionOwner {
  /** The connection is free for the next request. @param keepAliveMs as the upstream promised */
  onIdle(connection: Connection, keepAliveMs: number | undefined): void;
  onClosed(connection: Connection): void;
}

/** Opens the socket whose bytes go to `read`. @param closed called once, however it ended */
export type OpenSocket = (handlers: SocketHandlers) => Socket;

export interface SocketHandlers {
  /** The bytes are valid during the call only. */
  readonly onRead: (bytes: Buffer) => void;
  readonly onReady: () => void;
  readonly onError: (error: Error) => void;
}

/** Head and body up to this length go out in one piece: copying costs less than two of them. */
const joinedBytesMax = 8 * 1024;
/** More than this an upstream may have left unread when it refuses. */
const readBodyBytes = 64 * 1024;

export class Connection implements UpstreamControl {
  readonly #host: string;
  readonly #owner: PooledConnectionOwner;
  readonly #socket: Socket;
  readonly #parser: MessageParser<ResponseHead>;
  #handler: UpstreamHandler | undefined;
  /** Waits for the socket. */
  #request: SentRequest | undefined;
  #isReady = false;
  #bodyBytes = 0;
  /** Of a body that is not at hand. */
  #sender: BodySender | undefined;
  #keepsAlive = false;
  #keepAliveMs: number | undefined;
  #isResponseWhole = false;
  #isClosed = false;

  /** @param host of the `Host` line */
  constructor(host: string, headBytesMax: number, open: OpenSocket, owner: PooledConnectionOwner) {
    this.#host = host;
    this.#owner = owner;
    this.#parser = new MessageParser(responseKind, headBytesMax, {
      onHead: (head) => this.#onHead(head),
      onBody: (chunk) => this.#handler?.onData(chunk),
      onComplete: () => {
        this.#isResponseWhole = true;
      },
    });
    this.#socket = open({
      onRead: (bytes) => this.#onRead(bytes),
      onReady: () => this.#onReady(),
      onError: (error) => this.#fail(error),
    });
    this.#socket.on("end", () => this.#onEnd());
    this.#socket.on("close", () => this.#fail(new Error("the connection to the upstream was closed")));
  }

  /** Only for a connection that is new or idle. */
  send(request: SentRequest, handler: UpstreamHandler): void {
    this.#handler = handler;
    if (this.#isReady) this.#write(request, handler);
    else this.#request = request;
  }

  abort(): void {
    this.#handler = undefined;
    this.#close();
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** Closes an idle connection, or one that a request waits for. */
  destroy(error: Error): void {
    this.#fail(error);
  }

  #onReady(): void {
    if (this.#isClosed) return;
    this.#isReady = true;
    const request = this.#request;
    this.#request = undefined;
    if (request !== undefined && this.#handler !== undefined) this.#write(request, this.#handler);
  }

  #write(request: SentRequest, handler: UpstreamHandler): void {
    let head: string;
    try {
      head = writeRequestHead(this.#host, request);
    } catch (error) {
      // Nothing was sent: the connection is as good as before.
      this.#handler = undefined;
      this.#owner.onIdle(this, this.#keepAliveMs);
      handler.onError(error instanceof Error ? error : new Error(String(error)));
      return;
    }
    this.#isResponseWhole = false;
    this.#parser.next();
    handler.onStart(this);
    if (this.#isClosed) return;
    const { body } = request;
    this.#bodyBytes = body.length;
    if (Buffer.isBuffer(body)) this.#writeAtOnce(head, [body], body.length);
    else this.#writeStreamed(head, body);
  }

  #writeStreamed(head: string, body: StreamedBody): void {
    const { pieces } = body;
    if (pieces !== undefined) {
      this.#writeAtOnce(head, pieces, body.length);
      return;
    }
    this.#socket.write(head, "latin1");
    this.#sender = new BodySender(this.#socket, body, (error) => this.#fail(error));
    this.#sender.start();
  }

  #writeAtOnce(head: string, pieces: readonly Buffer[], bodyBytes: number): void {
    if (bodyBytes <= joinedBytesMax) {
      const joined = Buffer.allocUnsafe(head.length + bodyBytes);
      let end = joined.write(head, "latin1");
      for (const piece of pieces) end += piece.copy(joined, end);
      this.#socket.write(joined);
      return;
    }
    this.#socket.cork();
    // As bytes: a text among them would be copied together with the body.
    this.#socket.write(Buffer.from(head, "latin1"));
    for (const piece of pieces) this.#socket.write(piece);
    this.#socket.uncork();
  }

  #onHead(head: ResponseHead): MessageFraming {
    const mayBeUnread = head.status >= 400 && this.#bodyBytes > readBodyBytes;
    this.#keepsAlive = head.keepsAlive && !mayBeUnread;
    this.#keepAliveMs = head.keepAliveMs;
    if (head.status === 101) this.#fail(new Error("the upstream changed the protocol unasked"));
    else this.#handler?.onHead(head.status, head.headers);
    return head.framing;
  }

  #onRead(bytes: Buffer): void {
    if (this.#isClosed) return;
    let isClean: boolean;
    try {
      isClean = this.#parser.push(bytes) === bytes.length;
    } catch (error) {
      this.#fail(error instanceof Error ? error : new Error(String(error)));
      return;
    }
    if (this.#isResponseWhole) this.#finish(isClean);
    else if (!isClean) this.#close();
  }

  /** The upstream has ended its side: a response that is still due has failed. */
  #onEnd(): void {
    if (this.#isClosed) return;
    try {
      this.#parser.end();
    } catch (error) {
      this.#fail(error instanceof Error ? error : new Error(String(error)));
      return;
    }
    if (this.#isResponseWhole) this.#finish(false);
    else this.#close();
  }

  /** The response is whole. @param isClean nothing came behind it, and the upstream may say more */
  #finish(isClean: boolean): void {
    const handler = this.#handler;
    this.#handler = undefined;
    this.#isResponseWhole = false;
    const isSent = this.#socket.writableLength === 0 && this.#sender?.isSent !== false;
    const isReusable = isClean && this.#keepsAlive && isSent && !this.#isClosed;
    if (isReusable) {
      this.#sender = undefined;
      // A reader that was slow at the end is no reason to leave the next response unread.
      if (this.#socket.isPaused()) this.#socket.resume();
      this.#owner.onIdle(this, this.#keepAliveMs);
    } else this.#close();
    handler?.onEnd();
  }

  #fail(error: Error): void {
    const handler = this.#handler;
    this.#handler = undefined;
    this.#close();
    handler?.onError(error);
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#sender?.stop();
    this.#socket.destroy();
    this.#owner.onClosed(this);
  }
}
