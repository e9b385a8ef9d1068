/**
 * The response to one request: a head, and a body that is as long as the head says, or comes in chunks.
 *
 * What is named as in Node's `ServerResponse` means the same. Head and body of a short response are one write. A
 * response that is shorter or longer than its head said never ends cleanly.
 */
import { EventEmitter } from "node:events";
import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { headerLines } from "#proxy/http1/wire/header-lines";
import { httpDate } from "#proxy/http1/wire/http-date";

/** A connection that goes on in another protocol. */
export interface HandedOver {
  readonly socket: Socket;
  /** They came behind the head and are the first of the other protocol; often none. */
  readonly bytes: Buffer;
}

/** What a response needs of its connection. */
export interface ResponseOwner {
  readonly socket: Socket;
  /** Seconds that an idle connection is kept, as clients are told. */
  readonly keepAliveSeconds: number;
  /** What is still to come of the request: so little that it may be read, or more. */
  readonly restOfRequest: "none" | "short" | "long";
  /** Every response that begins now is the last one of its connection. */
  readonly isDraining: boolean;
  /** How long a client may take nothing of what waits for it. */
  readonly slowReaderTimeoutMs: number;
  /** The kernel has taken all of the response. */
  onFinished(): void;
  /** Nothing more is read of this client. */
  stopReading(): void;
  /** Reads no more of the socket. @returns undefined where it is gone, or sent more than is kept */
  handOver(): HandedOver | undefined;
}

/** What the request decides of its response. */
export interface ResponseForm {
  readonly isHead: boolean;
  readonly isOld: boolean;
  readonly keepsAlive: boolean;
  /** The client may never send its body unless it is asked for it. */
  readonly expectsContinue: boolean;
}

interface ResponseEvents {
  /** The client takes more after a `write` that returned false. */
  drain: [];
  /** The response is over, whole or not. */
  close: [];
}

/**
 * Pieces up to this length go out in one: copying costs less than two of them. What is longer would take memory of its own
 * for each copy, outside the heap, where the collector is slow to see it.
 */
const joinedBytesMax = 3 * 1024;
const noBytes = Buffer.alloc(0);
const lastChunk = "0\r\n\r\n";

const upgradeRequired = 426;
/** What the client may use in place of the protocol that it asked for (RFC 9110 sections 7.8 and 15.5.22). */
const upgradeToHttp = ", upgrade\r\nupgrade: HTTP/1.1";

export class ClientResponse extends EventEmitter<ResponseEvents> {
  readonly #owner: ResponseOwner;
  readonly #form: ResponseForm;
  #keepsAlive: boolean;
  #hasAsked = false;
  /** The head that has not been written; it goes out with what comes first. */
  #head: string | undefined;
  #isHeadSaid = false;
  #isChunked = false;
  /** Of a body whose length was said: what is still to come. */
  #left: number | undefined;
  #isEnded = false;
  #isFinished = false;
  #isClosed = false;
  #silence: NodeJS.Timeout | undefined;

  constructor(owner: ResponseOwner, form: ResponseForm) {
    super();
    this.#owner = owner;
    this.#form = form;
    this.#keepsAlive = form.keepsAlive;
  }

  get headersSent(): boolean {
    return this.#isHeadSaid;
  }

  /** `end` was called. */
  get writableEnded(): boolean {
    return this.#isEnded;
  }

  get writableFinished(): boolean {
    return this.#isFinished;
  }

  /** The response is over, or its connection gone. */
  get closed(): boolean {
    return this.#isClosed;
  }

  get destroyed(): boolean {
    return this.#isClosed || this.#owner.socket.destroyed;
  }

  /** Bytes that wait for a client that reads slowly. */
  get writableLength(): number {
    return this.#owner.socket.writableLength;
  }

  get writableNeedDrain(): boolean {
    return this.#owner.socket.writableNeedDrain;
  }

  /** Whether another request may follow on this connection. */
  get keepsAlive(): boolean {
    return this.#keepsAlive;
  }

  /** Makes this the last response of its connection; clients are told where the head is not written yet. */
  closeAfter(): void {
    this.#keepsAlive = false;
  }

  /** The client may wait for `100 Continue` before it sends its body. */
  get expectsContinue(): boolean {
    return this.#form.expectsContinue;
  }

  /** Asks for a body whose client waits for that (RFC 9110 section 10.1.1). */
  writeContinue(): void {
    this.#hasAsked = true;
    if (!this.#isHeadSaid) this.#owner.socket.write("HTTP/1.1 100 Continue\r\n\r\n", "latin1");
  }

  /**
   * Written together with what follows.
   * @param headers names and values in turn; what frames the body and the connection is not among them
   * @param bodyBytes undefined where it is not known: the body comes in chunks
   * @throws HeaderSyntaxError
   */
  writeHead(status: number, headers: readonly string[], bodyBytes?: number): void {
    if (this.#isHeadSaid) throw new Error("a response has one head");
    const lines = headerLines(headers);
    this.#isHeadSaid = true;
    this.#left = bodyBytes;
    this.#isChunked = bodyBytes === undefined && !this.#form.isOld;
    if (bodyBytes === undefined && this.#form.isOld) this.#keepsAlive = false;
    if (this.#owner.isDraining || this.#leavesMuchUnread()) this.#keepsAlive = false;
    // A status that allows no body has no length either (RFC 9110 section 8.6).
    const isBodiless = bodyBytes === undefined || status === 204;
    const length = isBodiless ? "" : `content-length: ${bodyBytes}\r\n`;
    const framing = this.#isChunked ? "transfer-encoding: chunked\r\n" : length;
    const connection = this.#keepsAlive
      ? `connection: keep-alive\r\nkeep-alive: timeout=${this.#owner.keepAliveSeconds}\r\n`
      : `connection: close${status === upgradeRequired ? upgradeToHttp : ""}\r\n`;
    this.#head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? "Unknown"}\r\n${lines}date: ${httpDate()}\r\n${connection}${framing}\r\n`;
  }

  /** A body that is still coming must not be read without end, nor be taken for the next request. */
  #leavesMuchUnread(): boolean {
    const { restOfRequest } = this.#owner;
    // A client that was not asked for its body may send it or not: what comes next cannot be told.
    const isUnsure = this.#form.expectsContinue && !this.#hasAsked;
    return restOfRequest === "long" || (restOfRequest === "short" && isUnsure);
  }

  /**
   * Gives the connection to another protocol (RFC 9110 section 7.8), whose owner writes the response itself and must
   * listen to the socket at once. The request stays open until the socket has closed.
   * @returns undefined where nothing can be handed over: the connection is gone, its request is not whole yet, a response
   *   has begun, or the client sent more behind its head than is kept
   */
  handOver(): HandedOver | undefined {
    if (this.#isHeadSaid || this.destroyed) return undefined;
    const handedOver = this.#owner.handOver();
    if (handedOver !== undefined) this.#isHeadSaid = true;
    return handedOver;
  }

  /**
   * @param onTaken called when the kernel has taken all written so far; never where the connection ends before
   * @returns false when the client is slower than this: `drain` tells when it takes more
   */
  write(bytes: Buffer, onTaken?: () => void): boolean {
    if (this.#isEnded || this.destroyed) return false;
    this.#count(bytes.length);
    const isFlowing = this.#send(bytes, this.#isChunked && bytes.length > 0 ? "chunk" : "plain");
    if (onTaken !== undefined) this.#whenTaken(onTaken);
    return isFlowing;
  }

  end(bytes: Buffer = noBytes): void {
    if (this.#isEnded || this.destroyed) return;
    this.#count(bytes.length);
    this.#isEnded = true;
    if (this.#left !== undefined && this.#left > 0 && !this.#form.isHead) {
      this.destroy();
      return;
    }
    this.#send(bytes, this.#isChunked ? "last" : "plain");
    const { socket } = this.#owner;
    if (socket.writableLength === 0) this.#finish();
    else {
      this.cutWhenSilent();
      this.#whenTaken(() => this.#finish());
    }
  }

  #whenTaken(listener: () => void): void {
    this.#owner.socket.write(noBytes, (error) => {
      if (error === undefined || error === null) listener();
    });
  }

  /** The connection ends behind what was written, and no client takes that for the end of the response. */
  breakOff(): void {
    if (this.#form.isOld) {
      this.destroy();
      return;
    }
    this.#isEnded = true;
    this.#owner.stopReading();
    this.#owner.socket.end();
  }

  /** Ends the connection now; no client takes that for the end of the response. */
  destroy(): void {
    const { socket } = this.#owner;
    // Where the end of the connection is the end of the response, only a reset is no clean end. Over TLS, whose sockets Node
    // does not let reset, it is an end that TLS itself did not announce (RFC 8446 section 6.1).
    const isEndOfResponse = this.#isHeadSaid && this.#left === undefined && this.#form.isOld && !this.#isFinished;
    if (isEndOfResponse && !(socket instanceof TLSSocket)) socket.resetAndDestroy();
    else socket.destroy();
  }

  /** Cuts a client that takes none of the writes that wait for it for too long, whatever it sends meanwhile. */
  cutWhenSilent(): void {
    this.#silence ??= setTimeout(() => this.destroy(), this.#owner.slowReaderTimeoutMs);
  }

  /** For the connection: it is gone, or done with this response. */
  over(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#silence);
    this.emit("close");
  }

  /** For the connection: the client takes more. */
  drained(): void {
    this.#silence?.refresh();
    this.emit("drain");
  }

  #count(bytes: number): void {
    if (this.#left === undefined || this.#form.isHead) return;
    this.#left -= bytes;
    if (this.#left >= 0) return;
    this.destroy();
    throw new Error("a response is longer than its head said");
  }

  #send(bytes: Buffer, form: "plain" | "chunk" | "last"): boolean {
    const { socket } = this.#owner;
    const body = this.#form.isHead ? noBytes : bytes;
    const isChunk = form !== "plain" && body.length > 0;
    let before = this.#head ?? "";
    this.#head = undefined;
    if (isChunk) before += `${body.length.toString(16)}\r\n`;
    const end = form === "last" && !this.#form.isHead ? lastChunk : "";
    const after = isChunk ? `\r\n${end}` : end;
    const around = before + after;
    if (body.length === 0) return around === "" ? !socket.writableNeedDrain : socket.write(around, "latin1");
    if (around === "") return socket.write(body);
    if (body.length > joinedBytesMax) {
      socket.cork();
      // Bytes throughout: texts among them would be copied together with the body.
      if (before !== "") socket.write(Buffer.from(before, "latin1"));
      let isFlowing = socket.write(body);
      if (after !== "") isFlowing = socket.write(Buffer.from(after, "latin1"));
      socket.uncork();
      return isFlowing;
    }
    const joined = Buffer.allocUnsafe(before.length + body.length + after.length);
    joined.write(before, 0, "latin1");
    joined.set(body, before.length);
    if (after !== "") joined.write(after, before.length + body.length, "latin1");
    return socket.write(joined);
  }

  #finish(): void {
    if (this.#isFinished || this.#isClosed) return;
    this.#isFinished = true;
    clearTimeout(this.#silence);
    this.#owner.onFinished();
  }
}
