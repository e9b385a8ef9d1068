/**
 * One client's connection: its requests one after the other, each responded to before the next one is read.
 *
 * Bytes behind a request wait as bytes, and few of them, so that a pipeline never runs ahead of its responses. What is no
 * HTTP is refused in its order, and the connection closes. How long a client may take is looked at by `check`, which the
 * owner calls now and then: no timer is armed for what nearly always is on time.
 */
import type { Socket } from "node:net";
import { checkRequestHead, type HeadLimits } from "#proxy/http1/wire/check-request-head";
import { hasHeader } from "#proxy/http1/wire/header-values";
import { HttpError } from "#proxy/http1/wire/http-error";
import type { RequestFraming } from "#proxy/http1/wire/message-framing";
import { type MessageListener, MessageParser } from "#proxy/http1/wire/message-parser";
import { type RequestHead, requestKind } from "#proxy/http1/wire/request-head";
import { type BodySource, ClientRequest } from "./client-request.ts";
import { ClientResponse, type HandedOver, type ResponseOwner } from "./client-response.ts";
import { Exchange } from "./exchange.ts";
import { lingeringClose } from "./lingering-close.ts";
import { releaseBuffer } from "./release-buffer.ts";

/** What a client may send, and how long it may take. */
export interface ServerLimits extends HeadLimits {
  /** Request line to empty line. */
  readonly headerBytesMax: number;
  readonly headersTimeoutMs: number;
  /** Of a body whose response has ended: how long it may take, and how long its longest silence. */
  readonly bodyTimeoutMs: number;
  readonly bodyIdleTimeoutMs: number;
  /** How long a connection may stay open without a request. */
  readonly keepAliveTimeoutMs: number;
  /** How long a client may take nothing of what waits for it. */
  readonly slowReaderTimeoutMs: number;
}

export interface ConnectionOwner {
  readonly limits: ServerLimits;
  /** Every response that begins now is the last one of its connection. */
  readonly isDraining: boolean;
  /** A request has begun. */
  onExchange(exchange: Exchange): void;
  /** Its response has ended, or its client left. */
  onExchangeOver(): void;
  /** The bytes of a response to what never became a request; the connection closes behind it. */
  refusal(error: HttpError): Buffer;
  /** Our own code failed while the bytes of a client were read. */
  onFault(error: unknown): void;
  onClosed(connection: ClientConnection): void;
  /** Counts so much more of what came too early, over all connections. @returns false where that is too much to be kept */
  tryKeep(bytes: number): boolean;
  /** So much less of it is kept. */
  onLetGo(bytes: number): void;
}

/**
 * More than this behind a request that is being served is not kept, and its response is the last one of the connection:
 * left in the kernel, it would hide that its client has left; kept here, many connections would fill the memory.
 */
const restBytesMax = 32 * 1024;
/** Once the response is on its way, what comes is the next request: more of it waits in the kernel for a moment. */
const nextBytesMax = 64 * 1024;
/** A client that goes on sending behind that is cut (docs/design/reliability.md F5). */
const droppedBytesMax = 1024 * 1024;
/** The rest of a request whose response has ended is read up to this, so that its connection can be used again. */
const shortBytesMax = 64 * 1024;
/** An idle client may begin a request while the end of its connection is on the way: it is told a shorter time. */
const keepAliveMarginMs = 1_000;
const noBody: RequestFraming = { kind: "none" };
const nothing = Buffer.alloc(0);

export class ClientConnection implements MessageListener<RequestHead>, BodySource, ResponseOwner {
  readonly socket: Socket;
  readonly remoteAddress: string | undefined;
  readonly keepAliveSeconds: number;
  readonly slowReaderTimeoutMs: number;
  readonly #owner: ConnectionOwner;
  readonly #parser: MessageParser<RequestHead>;
  #current: Exchange | undefined;
  /** Bytes behind the request that is being served. */
  #rest: Buffer | undefined;
  /** A response has ended before its request: the rest of the request is read and forgotten. */
  #isDiscarding = false;
  /** Since when the connection waits for the client. */
  #sinceMs = performance.now();
  /** When bytes of a forgotten body came last. */
  #heardMs = 0;
  /** The first request has the time of a head; later ones have the time that an idle connection is kept. */
  #isFirst = true;
  #isStopped = false;
  #droppedBytes = 0;
  /** The head asks for another protocol: the bytes behind it are for that one. */
  #asksForUpgrade = false;

  constructor(socket: Socket, owner: ConnectionOwner) {
    this.socket = socket;
    this.remoteAddress = socket.remoteAddress;
    this.keepAliveSeconds = Math.floor(owner.limits.keepAliveTimeoutMs / 1_000);
    this.slowReaderTimeoutMs = owner.limits.slowReaderTimeoutMs;
    this.#owner = owner;
    this.#parser = new MessageParser(requestKind, owner.limits.headerBytesMax, this);
    this.#parser.next();
    socket.on("data", this.#onData);
    socket.on("drain", this.#onDrain);
    socket.on("end", this.#onEnd);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => this.#onClose());
  }

  /** Ends what takes too long. @param nowMs of `performance.now()` */
  check(nowMs: number): void {
    if (this.#isStopped || this.#current !== undefined) return;
    const { limits } = this.#owner;
    const waitedMs = nowMs - this.#sinceMs;
    if (this.#isDiscarding) {
      const isTooSlow = waitedMs > limits.bodyTimeoutMs || nowMs - this.#heardMs > limits.bodyIdleTimeoutMs;
      if (isTooSlow) this.socket.destroy();
    } else if (this.#parser.isBetween && !this.#isFirst) {
      if (waitedMs > limits.keepAliveTimeoutMs + keepAliveMarginMs) this.socket.destroy();
    } else if (waitedMs > limits.headersTimeoutMs) {
      this.#refuse(new HttpError("REQUEST_TIMEOUT", "The request took too long to arrive."));
    }
  }

  get isDraining(): boolean {
    return this.#owner.isDraining;
  }

  get restOfRequest(): "none" | "short" | "long" {
    const request = this.#current?.request;
    if (request === undefined || request.complete) return "none";
    const { declaredBytes } = request;
    return declaredBytes !== undefined && declaredBytes <= shortBytesMax ? "short" : "long";
  }

  /** Ends the connection now; no client takes that for the end of its response. */
  destroy(): void {
    this.#current?.response.destroy();
    this.socket.destroy();
  }

  pauseReading(): void {
    this.socket.pause();
  }

  resumeReading(): void {
    if (this.socket.isPaused()) this.socket.resume();
  }

  stopReading(): void {
    this.#isStopped = true;
    this.#takeRest();
    this.#parser.stop();
    this.resumeReading();
  }

  handOver(): HandedOver | undefined {
    const { socket } = this;
    if (socket.destroyed || this.#droppedBytes > 0 || this.#current?.request.complete !== true) return undefined;
    const bytes = this.#takeRest() ?? nothing;
    this.#isStopped = true;
    this.#parser.stop();
    socket.off("data", this.#onData);
    socket.off("drain", this.#onDrain);
    socket.off("end", this.#onEnd);
    return { socket, bytes };
  }

  onHead(head: RequestHead): RequestFraming | undefined {
    const { limits } = this.#owner;
    let framing: RequestFraming | undefined;
    let problem: HttpError | undefined;
    try {
      framing = checkRequestHead(head, limits);
    } catch (error) {
      if (!(error instanceof HttpError)) throw error;
      problem = error;
    }
    this.#asksForUpgrade = hasHeader(head.headers, "upgrade");
    const request = new ClientRequest(this, head, framing ?? noBody, problem);
    const response = new ClientResponse(this, {
      isHead: head.method === "HEAD",
      isOld: head.version === "1.0",
      // Where it is not upgraded, a client that asked may go on in the other protocol: its connection must end.
      keepsAlive: head.keepsAlive && framing !== undefined && !this.#asksForUpgrade,
      expectsContinue: head.version === "1.1" && hasHeader(head.headers, "expect"),
    });
    this.#isFirst = false;
    this.#droppedBytes = 0;
    this.#current = new Exchange(request, response);
    this.#owner.onExchange(this.#current);
    return framing;
  }

  onBody(chunk: Buffer): void {
    const exchange = this.#current;
    if (exchange === undefined) {
      this.#heardMs = performance.now();
      releaseBuffer(chunk);
    } else if (exchange.response.writableEnded) {
      // No handler will ever ask for it, and its client may take the response slowly.
      this.drop(chunk);
    } else exchange.request.push(chunk);
  }

  drop(bytes: Buffer): void {
    this.#droppedBytes += bytes.length;
    releaseBuffer(bytes);
    if (this.#droppedBytes > droppedBytesMax) this.destroy();
  }

  onComplete(): void {
    if (this.#current !== undefined) {
      this.#current.request.completed();
      return;
    }
    this.#isDiscarding = false;
    this.#sinceMs = performance.now();
    this.#parser.next();
  }

  onFinished(): void {
    const exchange = this.#current;
    if (exchange === undefined) return;
    if (!exchange.response.keepsAlive) {
      this.stopReading();
      this.#over();
      lingeringClose(this.socket);
      return;
    }
    if (!exchange.request.complete) {
      exchange.request.discard();
      this.#isDiscarding = true;
    }
    this.#over();
    this.#parser.next();
    this.resumeReading();
    const rest = this.#takeRest();
    if (rest !== undefined) this.#parse(rest);
  }

  #takeRest(): Buffer | undefined {
    const rest = this.#rest;
    this.#rest = undefined;
    if (rest !== undefined) this.#owner.onLetGo(rest.length);
    return rest;
  }

  /** Nothing is owed to the current request any more. */
  #over(): void {
    const exchange = this.#current;
    if (exchange === undefined) return;
    this.#current = undefined;
    this.#sinceMs = this.#heardMs = performance.now();
    exchange.response.over();
    exchange.closed();
    this.#owner.onExchangeOver();
  }

  readonly #onData = (bytes: Buffer): void => {
    if (this.#isStopped) {
      if (this.#current === undefined) releaseBuffer(bytes);
      else this.drop(bytes);
    } else if (this.#parser.isWhole) this.#keep(bytes);
    else this.#parse(bytes);
  };

  readonly #onDrain = (): void => this.#current?.response.drained();

  #parse(bytes: Buffer): void {
    const wasBetween = this.#parser.isBetween;
    try {
      const end = this.#parser.push(bytes);
      // The first head has as long as its connection is open; an empty line begins none.
      if (wasBetween && !this.#isFirst && this.#parser.isInHead) this.#sinceMs = performance.now();
      if (end < bytes.length && !this.#isStopped) this.#keep(bytes.subarray(end));
    } catch (error) {
      this.#fail(error);
    }
  }

  #keep(bytes: Buffer): void {
    const response = this.#current?.response;
    const length = (this.#rest?.length ?? 0) + bytes.length;
    const isLittle = response?.writableEnded === true || length <= restBytesMax;
    const isAwaited = response?.keepsAlive === true || this.#asksForUpgrade;
    if (isAwaited && isLittle && this.#owner.tryKeep(bytes.length)) {
      this.#rest = Buffer.concat([this.#rest ?? nothing, bytes]);
      if (length >= nextBytesMax) this.pauseReading();
      return;
    }
    response?.closeAfter();
    this.#takeRest();
    this.drop(bytes);
  }

  /** Refuses what is no HTTP: to the reader of the body, or here where it never became a request. */
  #fail(cause: unknown): void {
    const exchange = this.#current;
    if (!(cause instanceof HttpError)) {
      // The client can do nothing about it.
      this.#owner.onFault(cause);
      this.destroy();
    } else if (exchange !== undefined) {
      exchange.response.closeAfter();
      this.stopReading();
      const message = "The body of the request is not valid HTTP/1.1.";
      exchange.request.failed(new HttpError("AMBIGUOUS_FRAMING", message));
    } else if (this.#isDiscarding) {
      // Its response has gone out.
      this.stopReading();
      lingeringClose(this.socket);
    } else this.#refuse(headProblem(cause));
  }

  #refuse(error: HttpError): void {
    this.stopReading();
    this.socket.write(this.#owner.refusal(error));
    // No check watches this client any more: its socket must not wait for its own end for ever.
    lingeringClose(this.socket);
  }

  /** A client that ends its side has left, but for what is on its way to it. */
  readonly #onEnd = (): void => {
    const isServed = this.#current === undefined || this.#current.response.writableEnded;
    if (!isServed) this.destroy();
  };

  #onClose(): void {
    this.stopReading();
    this.#current?.request.failed(undefined);
    this.#over();
    this.#owner.onClosed(this);
  }
}

/** The same in words for the client. */
function headProblem({ code }: HttpError): HttpError {
  const isTooLarge = code === "HEAD_TOO_LARGE";
  return new HttpError(
    code,
    isTooLarge ? "The request headers are too large." : "This is not a valid HTTP/1.1 request.",
  );
}
