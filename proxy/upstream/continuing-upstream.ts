/**
 * Wraps an upstream whose provider may pause a turn: it sends the paused turn back to be continued, and the caller sees
 * one reply (docs/design/translation.md 8.1).
 *
 * The head is that of the first reply; the body is spliced from the bodies of all. A later failure ends the reply
 * visibly, since a part of it was generated. A turn is continued at most `continuationsMax` times, and only as long as
 * `mayContinue` finds room; after that it ends with its pause.
 */

import type { PausedTurn, TurnSplicer } from "#proxy/formats/turn-splicer";
import type { SentRequest, Upstream, UpstreamControl, UpstreamHandler } from "#proxy/http1/client/upstream";
import { headerValues, type RawHeaders } from "#proxy/http1/wire/header-values";
import type { HeldReply } from "./reply/held-reply.ts";
import type { ReplyHandler, ReplySource } from "./reply/reply-source.ts";

/** docs/design/translation.md 8.1. */
const continuationsMax = 5;
/** Error bodies say nothing more beyond. */
const errorBodyBytesMax = 256 * 1024;

export interface ContinuationOptions {
  readonly upstream: Pick<Upstream, "send">;
  readonly splicer: TurnSplicer;
  /** What is kept of the turn counts there. */
  readonly held: HeldReply;
  /** Finds room for one more request of the turn. Never rejects. */
  readonly mayContinue: (turn: PausedTurn) => boolean | Promise<boolean>;
}

export class ContinuingUpstream implements ReplySource {
  readonly #options: ContinuationOptions;

  constructor(options: ContinuationOptions) {
    this.#options = options;
  }

  /** Once. */
  send(request: SentRequest, handler: ReplyHandler): void {
    const turn = new TurnExchange(this.#options, request, handler);
    this.#options.upstream.send(request, new FirstBody(turn, handler));
  }
}

class TurnExchange implements UpstreamControl {
  readonly #options: ContinuationOptions;
  readonly #request: SentRequest;
  readonly #handler: ReplyHandler;
  /** Of the request under way; none between two, when its connection serves others. */
  #control: UpstreamControl | undefined;
  #continuations = 0;
  #isPaused = false;
  #isOver = false;

  constructor(options: ContinuationOptions, request: SentRequest, handler: ReplyHandler) {
    this.#options = options;
    this.#request = request;
    this.#handler = handler;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  abort(): void {
    this.#finish();
    this.leaveBody();
  }

  pause(): void {
    this.#isPaused = true;
    this.#control?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#control?.resume();
  }

  /** The request under way has its connection. */
  setControl(control: UpstreamControl): void {
    this.#control = control;
    if (this.#isOver) control.abort();
    else if (this.#isPaused) control.pause();
  }

  /** The request under way has heard its end. */
  dropControl(): void {
    this.#control = undefined;
  }

  push(chunk: Buffer): void {
    if (this.#isOver) return;
    const { splicer, held } = this.#options;
    this.#guarded(() => {
      // Copied: parts of it wait, and its memory is read into again.
      this.#pass(splicer.push(Buffer.from(chunk)));
      if (splicer.isCollecting) this.#handler.progress();
      if (!this.#isOver && !held.hold(splicer.heldBytes)) this.#forget();
      if (splicer.isPaused) this.#endSoon();
    });
  }

  /** Upstreams may keep a body open behind the end of its message. */
  #endSoon(): void {
    const request = this.#continuations;
    setImmediate(() => {
      if (this.#isOver || this.#control === undefined || this.#continuations !== request) return;
      this.leaveBody();
      this.endBody();
    });
  }

  /** Hears nothing more of the request under way. */
  leaveBody(): void {
    this.#control?.abort();
    this.#control = undefined;
  }

  /** The body is over. @param error the connection broke, which means nothing behind the end of a message */
  endBody(error?: Error): void {
    if (this.#isOver) return;
    const { splicer } = this.#options;
    if (error !== undefined && !splicer.isPaused) {
      this.#fail(error);
      return;
    }
    this.#guarded(() => {
      const { passed, pause } = splicer.endBody();
      this.#pass(passed);
      if (this.#isOver) return;
      if (pause === undefined) this.#end();
      else this.#continue(pause).catch((error: unknown) => this.#crash(error));
    });
  }

  refused(status: number, body: Buffer): void {
    if (this.#isOver) return;
    this.#pass(this.#options.splicer.fail(status, body));
    this.#end();
  }

  async #continue(turn: PausedTurn): Promise<void> {
    const { splicer, held, mayContinue, upstream } = this.#options;
    const hasRoom = this.#continuations < continuationsMax && held.hold(splicer.heldBytes + turn.request.length);
    const isAllowed = hasRoom && (await mayContinue(turn));
    if (this.#isOver) return;
    if (!isAllowed) {
      this.#pass(splicer.stop());
      this.#end();
      return;
    }
    this.#continuations += 1;
    splicer.resume();
    this.#handler.awaitHead();
    upstream.send({ ...this.#request, body: turn.request }, new LaterBody(this, this.#handler));
  }

  #forget(): void {
    this.#pass(this.#options.splicer.forget());
    this.#options.held.release();
  }

  /** A bug of ours met this reply: that request fails, the process lives. */
  #guarded(act: () => void): void {
    try {
      act();
    } catch (error) {
      this.#crash(error);
    }
  }

  #crash(error: unknown): void {
    this.leaveBody();
    if (!this.#isOver) this.#fail(error instanceof Error ? error : new Error(String(error)));
  }

  #pass(bytes: Buffer): void {
    if (bytes.length > 0 && !this.#isOver) this.#handler.onData(bytes);
  }

  #fail(error: Error): void {
    this.#finish();
    this.#handler.onError(error);
  }

  #end(): void {
    if (this.#isOver) return;
    this.#finish();
    this.#handler.onEnd();
  }

  #finish(): void {
    this.#isOver = true;
    this.#options.held.release();
  }
}

/** The body that the reply begins with. One that is no success, or not readable here, is passed on as it is. */
class FirstBody implements UpstreamHandler {
  readonly #turn: TurnExchange;
  readonly #handler: UpstreamHandler;
  #isSpliced = false;

  constructor(turn: TurnExchange, handler: UpstreamHandler) {
    this.#turn = turn;
    this.#handler = handler;
  }

  onStart(control: UpstreamControl): void {
    this.#turn.setControl(control);
    this.#handler.onStart(this.#turn);
  }

  onHead(status: number, headers: RawHeaders): void {
    if (status >= 200) this.#isSpliced = isReadable(status, headers);
    this.#handler.onHead(status, headers);
  }

  onData(chunk: Buffer): void {
    if (this.#isSpliced) this.#turn.push(chunk);
    else this.#handler.onData(chunk);
  }

  onEnd(): void {
    this.#turn.dropControl();
    if (this.#isSpliced) this.#turn.endBody();
    else this.#handler.onEnd();
  }

  onError(error: Error): void {
    this.#turn.dropControl();
    if (this.#isSpliced) this.#turn.endBody(error);
    else this.#handler.onError(error);
  }
}

/** A body that goes on. */
class LaterBody implements UpstreamHandler {
  readonly #turn: TurnExchange;
  readonly #handler: ReplyHandler;
  #status = 0;
  #isReadable = false;
  readonly #refusal: Buffer[] = [];
  #refusalBytes = 0;

  constructor(turn: TurnExchange, handler: ReplyHandler) {
    this.#turn = turn;
    this.#handler = handler;
  }

  onStart(control: UpstreamControl): void {
    this.#turn.setControl(control);
  }

  onHead(status: number, headers: RawHeaders): void {
    if (this.#turn.isOver) return;
    if (status < 200) {
      // Too many of these are too many, whichever request they belong to.
      this.#handler.onHead(status, headers);
      return;
    }
    this.#status = status;
    this.#isReadable = isReadable(status, headers);
    this.#handler.headCame();
  }

  onData(chunk: Buffer): void {
    if (this.#isReadable) {
      this.#turn.push(chunk);
      return;
    }
    this.#handler.progress();
    this.#refusalBytes += chunk.length;
    this.#refusal.push(Buffer.from(chunk));
    if (this.#refusalBytes < errorBodyBytesMax) return;
    this.#turn.leaveBody();
    this.#refuse();
  }

  #refuse(): void {
    this.#turn.refused(this.#status, Buffer.concat(this.#refusal));
  }

  onEnd(): void {
    this.#turn.dropControl();
    if (this.#isReadable) this.#turn.endBody();
    else this.#refuse();
  }

  onError(error: Error): void {
    this.#turn.dropControl();
    this.#turn.endBody(error);
  }
}

function isReadable(status: number, headers: RawHeaders): boolean {
  const encodings = headerValues(headers, "content-encoding");
  return status >= 200 && status < 300 && encodings.every((encoding) => encoding.trim().toLowerCase() === "identity");
}
