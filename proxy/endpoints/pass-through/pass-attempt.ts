/**
 * Makes one attempt to pass a call on: sends it, and hands the reply to the client as it comes, with its own status.
 *
 * Nothing goes out before the first byte of the body is there, so that another target may still reply; a redirect is a
 * failure and never followed. A short reply is held until it is whole; of a longer one, whose length is known, the bytes
 * that complete it. So the caller can settle before the client takes the response for finished, and a reply that broke
 * off never looks whole: it is shorter than its head said, or lacks the last chunk.
 *
 * Packages that forward requests cannot stand here: they pipe Node's own streams into each other, which requests, pools
 * and connections of `proxy/http1/` are not, and know neither failover nor settlement.
 */
import { classifyErrorReply } from "#proxy/formats/classify-error";
import type { UpstreamError } from "#proxy/formats/format";
import { opaqueReplyHeaders } from "#proxy/http/header-rules";
import type { ClientResponse } from "#proxy/http1/server/client-response";
import { headerValues, type RawHeaders, toHeaderObject } from "#proxy/http1/wire/header-values";
import { joinBatch } from "#proxy/runtime/request-batch";
import type { StopReason } from "#proxy/upstream/attempt-outcome";
import { endResponse } from "#proxy/upstream/client/end-response";
import { CollectedReply, errorBodyBytesMax } from "#proxy/upstream/reply/collected-reply";
import { DecodedReply } from "#proxy/upstream/reply/decoded-reply";
import type { ReplySource } from "#proxy/upstream/reply/reply-source";
import {
  UpstreamExchange,
  type UpstreamFailure,
  type UpstreamListener,
  type UpstreamRequest,
} from "#proxy/upstream/upstream-exchange";
import { UsageWatch } from "./reported-usage.ts";

export type PassOutcome =
  /** The reply is whole; `finish` sends what is left of it. */
  | { readonly kind: "passed" }
  /** It broke off after a part of it had gone out. */
  | { readonly kind: "cut"; readonly failure: UpstreamFailure }
  | { readonly kind: "upstream-error"; readonly error: UpstreamError }
  | { readonly kind: "failure"; readonly failure: UpstreamFailure }
  | { readonly kind: "stopped"; readonly reason: StopReason; readonly isSent: boolean };

export interface PassContext {
  readonly response: ClientResponse;
  /** Of every response of this call: names and values in turn. */
  readonly responseHeaders: readonly string[];
  /** What the channel sends to identify itself: no header may repeat it to the client. */
  readonly secrets: readonly string[];
  /** Milliseconds that a client may take nothing. */
  readonly slowReaderTimeoutMs: number;
  /** Usage is read of what a call did: a job that is asked after tells that of the job, again and again. */
  readonly readsUsage: boolean;
  /** A piece has gone out. */
  readonly onPiece: () => void;
}

/** A reply of a known length up to this is held until it is whole. */
const heldBytesMax = 64 * 1024;
const noContent = 204;

export class PassAttempt extends DecodedReply implements UpstreamListener {
  readonly #context: PassContext;
  readonly #exchange: UpstreamExchange;
  #phase: "waiting" | "collecting" | "passing" | "whole" | "over" = "waiting";
  #status = 0;
  #headers: RawHeaders = [];
  #error = new CollectedReply(errorBodyBytesMax);
  #usage: UsageWatch | undefined;
  /** Of the body, where that is known. */
  #length: number | undefined;
  #bytes = 0;
  #bytesWritten = 0;
  #hasBegun = false;
  /** Goes out when the reply has been settled. */
  #held: Buffer[] = [];
  #slow: NodeJS.Timeout | undefined;
  #outcome: PassOutcome | undefined;
  #resolve: ((outcome: PassOutcome) => void) | undefined;

  constructor(request: UpstreamRequest, context: PassContext) {
    super();
    this.#context = context;
    this.#exchange = new UpstreamExchange(request.timeouts, this);
  }

  /** What the reply has reported so far; undefined: nothing. */
  get usage(): UsageWatch["usage"] {
    return this.#usage?.usage;
  }

  get status(): number {
    return this.#status;
  }

  get bytesWritten(): number {
    return this.#bytesWritten;
  }

  /** A part of the reply has gone out. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Resolves once, however the attempt ends. */
  run(source: ReplySource, request: UpstreamRequest): Promise<PassOutcome> {
    if (this.#outcome !== undefined) return Promise.resolve(this.#outcome);
    return new Promise((resolve) => {
      this.#resolve = resolve;
      this.#exchange.start(source, request);
    });
  }

  /** Ends the attempt from outside: the upstream is closed at once. What is whole is not taken back. */
  stop(reason: StopReason): void {
    if (this.#phase === "over" || this.#phase === "whole") return;
    this.#exchange.abort();
    this.#end({ kind: "stopped", reason, isSent: this.#exchange.isSent });
  }

  /** Sends the rest of a whole reply, and ends the response. */
  finish(): void {
    const { response } = this.#context;
    if (this.#phase !== "whole" || response.destroyed) return;
    this.#phase = "over";
    const rest = this.#held.length === 1 ? this.#held[0] : Buffer.concat(this.#held);
    this.#begin(this.#hasBegun || this.#length !== undefined ? this.#length : (rest?.length ?? 0));
    this.#bytesWritten += rest?.length ?? 0;
    this.#context.onPiece();
    endResponse(response, rest);
  }

  onHead(status: number, headers: RawHeaders): void {
    this.#status = status;
    this.#headers = headers;
    if (!this.decode(headers)) return;
    if (status < 200 || status >= 300) {
      this.#phase = "collecting";
      return;
    }
    this.#phase = "passing";
    const [length] = headerValues(headers, "content-length");
    if (!this.isEncoded && length !== undefined) this.#length = Number(length);
    if (this.#context.readsUsage) this.#usage = new UsageWatch(headerValues(headers, "content-type")[0] ?? "");
  }

  onData(chunk: Buffer): void {
    this.#exchange.progress();
    // Copied: the memory it lies in is read into again.
    const own = Buffer.from(chunk);
    this.write(own);
  }

  onFailure(failure: UpstreamFailure): void {
    if (this.#phase === "collecting") this.#end({ kind: "upstream-error", error: this.#classify() });
    else this.#end({ kind: this.#hasBegun ? "cut" : "failure", failure });
  }

  protected override consume(chunk: Buffer): void {
    if (this.#phase === "collecting") this.#collect(chunk);
    else if (this.#phase === "passing") this.#pass(chunk);
  }

  /** Of an error only the beginning is read. */
  #collect(chunk: Buffer): void {
    if (this.#error.count(chunk)) {
      this.#error.keep(chunk);
      return;
    }
    this.#exchange.abort();
    this.#end({ kind: "upstream-error", error: this.#classify() });
  }

  #pass(chunk: Buffer): void {
    this.#usage?.push(chunk);
    this.#bytes += chunk.length;
    const length = this.#length;
    if (length !== undefined && (length <= heldBytesMax || this.#bytes >= length)) {
      this.#held.push(chunk);
      return;
    }
    this.#begin(length);
    this.#bytesWritten += chunk.length;
    const isFlowing = this.#context.response.write(chunk);
    this.#context.onPiece();
    if (!isFlowing && this.#slow === undefined) this.#waitForClient();
  }

  #begin(length: number | undefined): void {
    const { response, responseHeaders, secrets } = this.#context;
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    const own = opaqueReplyHeaders(this.#headers, secrets);
    response.writeHead(this.#status, [...responseHeaders, ...own], this.#status === noContent ? 0 : length);
  }

  /** The client is slower than the upstream: nothing more is read until it has taken what waits. */
  #waitForClient(): void {
    const { response, slowReaderTimeoutMs } = this.#context;
    this.#exchange.pause();
    this.pauseDecoding();
    this.#slow = setTimeout(() => {
      response.destroy();
      this.stop("slow-reader");
    }, slowReaderTimeoutMs);
    response.once("drain", this.#onDrain);
  }

  readonly #onDrain = (): void => {
    this.#stopWaiting();
    if (this.#phase !== "passing") return;
    this.resumeDecoding();
    this.#exchange.resume();
  };

  #stopWaiting(): void {
    clearTimeout(this.#slow);
    this.#slow = undefined;
    this.#context.response.off("drain", this.#onDrain);
  }

  protected override consumeEnd(): void {
    if (this.#phase === "collecting") this.#end({ kind: "upstream-error", error: this.#classify() });
    else if (this.#phase === "passing") {
      this.#stopWaiting();
      this.#phase = "whole";
      void this.#concludeWhole();
    }
  }

  /** Together with the replies that arrive with it. */
  async #concludeWhole(): Promise<void> {
    await joinBatch();
    this.#usage?.end();
    this.#outcome = { kind: "passed" };
    this.#resolve?.(this.#outcome);
  }

  #classify(): UpstreamError {
    return classifyErrorReply(this.#status, toHeaderObject(this.#headers), this.#error.body(), Date.now());
  }

  protected override breakOff(cause: unknown): void {
    this.#exchange.abort();
    this.onFailure({ kind: "broken", isSent: true, cause });
  }

  #end(outcome: PassOutcome): void {
    if (this.#phase === "over" || this.#phase === "whole") return;
    this.#phase = "over";
    this.#held = [];
    this.#stopWaiting();
    this.closeDecoder();
    this.#outcome = outcome;
    this.#resolve?.(outcome);
  }
}
