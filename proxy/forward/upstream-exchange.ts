/**
 * One request to one upstream: sends it, watches its timeouts, and reports what comes back as it comes.
 *
 * Exactly one of `onEnd` and `onFailure` is called, once, unless `abort` came first: then neither. Nothing here knows
 * wire formats or the client; `attempt.ts` decides what the bytes mean.
 */
import type { IncomingHttpHeaders } from "node:http";
import type { Dispatcher } from "undici";

export interface UpstreamTimeouts {
  /** Until the head of the reply (streamed), or the head of the whole reply. 0 is none; so below. */
  readonly firstByteMs: number;
  /** Between two pieces of progress, as `progress()` reports them. */
  readonly idleMs: number;
  readonly totalMs: number;
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
  onHead(status: number, headers: IncomingHttpHeaders): void;
  onData(chunk: Buffer): void;
  onEnd(): void;
  onFailure(failure: UpstreamFailure): void;
}

export interface UpstreamRequest {
  readonly origin: string;
  readonly path: string;
  /** Names and values in turn. */
  readonly headers: string[];
  readonly body: Buffer;
  readonly timeouts: UpstreamTimeouts;
}

/** Answers of 1xx say nothing to a model's client; a flood of them would never end (RELIABILITY.md D8). */
const interimAnswersMax = 16;

/** Node fires a timer beyond 2^31 - 1 ms (24.8 days) at once; so long is as good as never. */
function timerMs(ms: number): number {
  return Math.min(ms, 2 ** 31 - 1);
}

class AbortedError extends Error {
  readonly code = "ABORTED";
}

export class UpstreamExchange implements Dispatcher.DispatchHandler {
  readonly #listener: UpstreamListener;
  readonly #timeouts: UpstreamTimeouts;
  #controller: Dispatcher.DispatchController | undefined;
  #isDone = false;
  #isSent = false;
  #waitTimer: NodeJS.Timeout | undefined;
  #totalTimer: NodeJS.Timeout | undefined;
  #lastProgressMs = 0;
  #interimAnswers = 0;
  #isPaused = false;

  constructor(timeouts: UpstreamTimeouts, listener: UpstreamListener) {
    this.#timeouts = timeouts;
    this.#listener = listener;
  }

  /** The upstream may have seen the request. */
  get isSent(): boolean {
    return this.#isSent;
  }

  /** Sends a POST. Failures arrive through the listener, never as an exception. */
  start(dispatcher: Dispatcher, request: UpstreamRequest): void {
    const { firstByteMs, totalMs } = this.#timeouts;
    if (firstByteMs > 0) this.#waitTimer = setTimeout(() => this.#fail("first-byte-timeout"), timerMs(firstByteMs));
    if (totalMs > 0) this.#totalTimer = setTimeout(() => this.#fail("total-timeout"), timerMs(totalMs));
    try {
      dispatcher.dispatch(
        { origin: request.origin, path: request.path, method: "POST", headers: request.headers, body: request.body },
        this,
      );
    } catch (error) {
      this.#fail("broken", error);
    }
  }

  /** The upstream is making progress: restarts the idle timer. Cheap enough for every chunk. */
  progress(): void {
    this.#lastProgressMs = performance.now();
  }

  /** Stops reading while the client is slow; the idle timer rests meanwhile. */
  pause(): void {
    this.#isPaused = true;
    this.#controller?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.progress();
    this.#controller?.resume();
  }

  /** Closes the upstream's connection now. The listener hears nothing more. */
  abort(): void {
    if (this.#isDone) return;
    this.#finish();
    this.#controller?.abort(new AbortedError("the exchange was ended by the gateway"));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isDone) {
      controller.abort(new AbortedError("the exchange was ended before it began"));
      return;
    }
    this.#isSent = true;
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (this.#isDone) return;
    if (status < 200) {
      this.#interimAnswers += 1;
      if (this.#interimAnswers > interimAnswersMax) this.#fail("broken", new Error("too many interim answers"));
      return;
    }
    clearTimeout(this.#waitTimer);
    this.progress();
    if (this.#timeouts.idleMs > 0) this.#armIdle(this.#timeouts.idleMs);
    this.#listener.onHead(status, headers);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.#isDone) this.#listener.onData(chunk);
  }

  onResponseEnd(): void {
    if (this.#isDone) return;
    this.#finish();
    this.#listener.onEnd();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    const code = "code" in error ? error.code : undefined;
    if (code === "EGRESS_REFUSED") this.#fail("egress", error);
    else if (code === "CONNECT_TIMEOUT") this.#fail("connect-timeout", error);
    else this.#fail(this.#isSent ? "broken" : "connect", error);
  }

  /** One timer that looks when it fires how long ago the last progress was, rather than one reset a chunk. */
  #armIdle(delayMs: number): void {
    this.#waitTimer = setTimeout(() => {
      const { idleMs } = this.#timeouts;
      const remainingMs = this.#isPaused ? idleMs : this.#lastProgressMs + idleMs - performance.now();
      if (remainingMs <= 0) this.#fail("idle-timeout");
      else this.#armIdle(Math.ceil(remainingMs));
    }, timerMs(delayMs));
  }

  #finish(): void {
    this.#isDone = true;
    clearTimeout(this.#waitTimer);
    clearTimeout(this.#totalTimer);
  }

  #fail(kind: UpstreamFailure["kind"], cause?: unknown): void {
    if (this.#isDone) return;
    this.#finish();
    this.#controller?.abort(new AbortedError(kind));
    this.#listener.onFailure({ kind, isSent: this.#isSent, cause });
  }
}
