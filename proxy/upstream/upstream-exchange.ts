/**
 * Runs one request to one upstream: sends it, watches its timeouts, and passes the reply on as it arrives.
 *
 * Exactly one of `onEnd` and `onFailure` is called, once, unless `abort` came first: then neither. Nothing here knows
 * wire formats or the client; `attempt.ts` decides what the bytes mean.
 */

import type { SentRequest, StreamedBody, UpstreamControl } from "#proxy/http1/client/upstream";
import type { RawHeaders } from "#proxy/http1/wire/header-values";
import { armDeadline, type Deadline } from "#proxy/runtime/deadlines";
import type { ReplyHandler, ReplySource } from "./reply/reply-source.ts";

export interface UpstreamTimeouts {
  /** Until the head of the reply (streamed), or the head of the whole reply. 0 is none; so below. */
  readonly firstByteMs: number;
  /** Between two pieces of progress, as `progress()` reports them. */
  readonly idleMs: number;
  /** For the whole call, and one length for all calls of a route and channel: their deadlines share a timer. */
  readonly totalMs: number;
  /** What is left of `totalMs` for this attempt; all of it unless given. */
  readonly leftMs?: number;
}

export interface UpstreamFailure {
  readonly kind:
    | "connect"
    | "connect-timeout"
    | "egress"
    | "first-byte-timeout"
    | "idle-timeout"
    | "total-timeout"
    /** The connection broke, or the bytes were no HTTP, after the request had been sent. */
    | "broken";
  /** The upstream may have seen the request. */
  readonly isSent: boolean;
  readonly cause: unknown;
}

export interface UpstreamListener {
  onHead(status: number, headers: RawHeaders): void;
  /** The bytes are valid during the call only. */
  onData(chunk: Buffer): void;
  onEnd(): void;
  onFailure(failure: UpstreamFailure): void;
}

export interface UpstreamRequest<Body extends Buffer | StreamedBody = Buffer | StreamedBody> extends SentRequest<Body> {
  readonly timeouts: UpstreamTimeouts;
}

/**
 * `totalMs` is for the whole call: what has passed of it is gone for this attempt.
 *
 * @returns undefined when none is left
 */
export function withinTotal(request: UpstreamRequest, passedMs: number): UpstreamRequest | undefined {
  const { timeouts } = request;
  if (timeouts.totalMs === 0) return request;
  const leftMs = timeouts.totalMs - passedMs;
  return leftMs <= 0 ? undefined : { ...request, timeouts: { ...timeouts, leftMs } };
}

/** Replies of 1xx mean nothing to a model's client; a flood of them would never end (docs/design/reliability.md D8). */
const interimRepliesMax = 16;

export class UpstreamExchange implements ReplyHandler {
  readonly #listener: UpstreamListener;
  readonly #timeouts: UpstreamTimeouts;
  #control: UpstreamControl | undefined;
  #isDone = false;
  #isSent = false;
  #waiting: Deadline | undefined;
  #total: Deadline | undefined;
  #lastProgressMs = 0;
  #interimReplies = 0;
  #isPaused = false;

  constructor(timeouts: UpstreamTimeouts, listener: UpstreamListener) {
    this.#timeouts = timeouts;
    this.#listener = listener;
  }

  /** The upstream may have seen the request. */
  get isSent(): boolean {
    return this.#isSent;
  }

  /** Sends the request. Failures arrive through the listener, never as an exception. */
  start(source: ReplySource, request: UpstreamRequest): void {
    const { totalMs, leftMs = totalMs } = this.#timeouts;
    this.awaitHead();
    if (totalMs > 0) this.#total = armDeadline(totalMs, () => this.#fail("total-timeout"), leftMs);
    source.send(request, this);
  }

  awaitHead(): void {
    this.#waiting?.cancel();
    const { firstByteMs } = this.#timeouts;
    if (firstByteMs > 0) this.#waiting = armDeadline(firstByteMs, this.#checkHead);
  }

  headCame(): void {
    this.#waiting?.cancel();
    this.progress();
    const { idleMs } = this.#timeouts;
    if (idleMs > 0) this.#waiting = armDeadline(idleMs, this.#checkIdle);
  }

  /** The upstream is making progress: restarts the idle timer. Cheap enough for every chunk. */
  progress(): void {
    this.#lastProgressMs = performance.now();
  }

  /** Stops reading while the client is slow; the idle timer rests meanwhile. */
  pause(): void {
    this.#isPaused = true;
    this.#control?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.progress();
    this.#control?.resume();
  }

  /** Closes the upstream's connection now. The listener hears nothing more. */
  abort(): void {
    if (this.#isDone) return;
    const control = this.#control;
    this.#finish();
    control?.abort();
  }

  onStart(control: UpstreamControl): void {
    if (this.#isDone) {
      control.abort();
      return;
    }
    this.#control = control;
    this.#isSent = true;
  }

  onHead(status: number, headers: RawHeaders): void {
    if (this.#isDone) return;
    if (status < 200) {
      this.#interimReplies += 1;
      if (this.#interimReplies > interimRepliesMax) this.#fail("broken", new Error("too many interim replies"));
      return;
    }
    this.headCame();
    this.#listener.onHead(status, headers);
  }

  onData(chunk: Buffer): void {
    if (!this.#isDone) this.#listener.onData(chunk);
  }

  onEnd(): void {
    if (this.#isDone) return;
    this.#finish();
    this.#listener.onEnd();
  }

  onError(error: Error): void {
    const code = "code" in error ? error.code : undefined;
    if (code === "EGRESS_REFUSED") this.#fail("egress", error);
    else if (code === "CONNECT_TIMEOUT") this.#fail("connect-timeout", error);
    else this.#fail(this.#isSent ? "broken" : "connect", error);
  }

  /** A further head is not read while the client is slow: that is not the upstream's delay. */
  readonly #checkHead = (): void => {
    if (this.#isPaused) this.awaitHead();
    else this.#fail("first-byte-timeout");
  };

  /** One deadline that looks when it is over how long ago the last progress was, rather than one reset a chunk. */
  readonly #checkIdle = (): void => {
    const { idleMs } = this.#timeouts;
    const remainingMs = this.#isPaused ? idleMs : this.#lastProgressMs + idleMs - performance.now();
    if (remainingMs <= 0) this.#fail("idle-timeout");
    else this.#waiting = armDeadline(idleMs, this.#checkIdle, remainingMs);
  };

  /** Nothing holds the connection any more: it may serve another call by now. */
  #finish(): void {
    this.#isDone = true;
    this.#control = undefined;
    this.#waiting?.cancel();
    this.#total?.cancel();
  }

  #fail(kind: UpstreamFailure["kind"], cause?: unknown): void {
    if (this.#isDone) return;
    const control = this.#control;
    this.#finish();
    control?.abort();
    this.#listener.onFailure({ kind, isSent: this.#isSent, cause });
  }
}
