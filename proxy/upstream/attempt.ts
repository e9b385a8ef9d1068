/**
 * One attempt to have one target answer a call: sends the request, judges the reply, passes a stream on.
 *
 * Until the first byte has gone to the client an attempt may fail without a trace, and the caller may try another
 * target; after it the stream belongs to the client and can only end, cleanly if the format's own terminator came,
 * visibly broken otherwise. An attempt never writes an error itself.
 */
import { GatewayError } from "#proxy/errors";
import { classifyErrorReply } from "#proxy/formats/classify-error";
import type { ReplyReading, StreamFilter, UpstreamError } from "#proxy/formats/format";
import { headerValues, type RawHeaders, toHeaderObject } from "#proxy/http1/wire/header-values";
import { InvalidReply } from "#proxy/neutral/reply";
import { joinBatch, yieldToBatch } from "#proxy/runtime/request-batch";
import { hasNoData } from "#proxy/sse/has-no-data";
import { WholeReplyFilter } from "#proxy/translate/whole-reply-filter";
import { createAttemptFilter } from "./attempt-filter.ts";
import type { AttemptOptions } from "./attempt-options.ts";
import { type AttemptOutcome, problemOf, type StopReason, type StreamProblem } from "./attempt-outcome.ts";
import type { ClientStream } from "./client/client-stream.ts";
import { isObject, isStream, mayBeAnswer } from "./reply/body-start.ts";
import { CollectedAnswer, errorBodyBytesMax, readCollectedStream } from "./reply/collected-answer.ts";
import { ContentDecoder } from "./reply/content-decoder.ts";
import { HeldAnswer } from "./reply/held-answer.ts";
import { isJsonInsteadOf, passedHeaders } from "./reply/passed-headers.ts";
import { UpstreamExchange, type UpstreamFailure } from "./upstream-exchange.ts";
import { awaitsUsage, UsageTeller } from "./usage-teller.ts";

export class Attempt {
  readonly #options: AttemptOptions;
  readonly #exchange: UpstreamExchange;
  readonly #held: HeldAnswer;
  readonly #teller: UsageTeller;
  #collected = new CollectedAnswer(0);
  #phase: "waiting" | "collecting" | "collected" | "streaming" | "done" = "waiting";
  #hasBegun = false;
  #status = 0;
  #headers: RawHeaders = [];
  #filter: StreamFilter | undefined;
  #decoder: ContentDecoder | undefined;
  #events = 0;
  #outcome: AttemptOutcome | undefined;
  #resolve: ((outcome: AttemptOutcome) => void) | undefined;
  #reject: ((error: unknown) => void) | undefined;

  constructor(options: AttemptOptions) {
    this.#options = options;
    this.#exchange = new UpstreamExchange(options.request.timeouts, this);
    this.#held = new HeldAnswer(options.inFlightBytes);
    this.#teller = new UsageTeller(options, {
      isStreaming: () => this.#phase === "streaming",
      onEnd: (filter) => this.#endStream(filter),
      onCrash: (error) => this.#crash(error),
    });
  }

  /** Resolves once, however the attempt ends; rejects only for an error in our own code. */
  run(): Promise<AttemptOutcome> {
    // Stopped before it began: nothing is sent, and nobody else would settle this promise.
    if (this.#outcome !== undefined) return Promise.resolve(this.#outcome);
    // A sign of life may begin the answer before the upstream does: what was dropped of the call is known by now.
    this.#options.client?.passHeaders(this.#passedHeaders());
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      this.#exchange.start(this.#options.upstream, this.#options.request);
    });
  }

  /** Ends the attempt from outside: the upstream is closed at once. */
  stop(reason: StopReason): void {
    // What is whole is judged in this very turn, and settled by its own numbers; another attempt looks again.
    if (this.#phase === "done" || this.#phase === "collected") return;
    this.#exchange.abort();
    const filter = this.#filter ?? this.#filterOfPart();
    this.#collected.forget();
    this.release();
    this.#settle({ kind: "stopped", reason, filter, isSent: this.#exchange.isSent });
  }

  /** Lets go of what it held of the answer: that has gone out, or never will. */
  release(): void {
    this.#held.release();
  }

  /** The client reads again. */
  resume(): void {
    if (this.#phase !== "streaming") return;
    this.#decoder?.resume();
    this.#exchange.resume();
  }

  onHead(status: number, headers: RawHeaders): void {
    this.#status = status;
    this.#headers = headers;
    const encodings = headerValues(headers, "content-encoding");
    if (encodings.length > 0 && !this.#decode(encodings.join(","))) return;
    const isSuccess = status >= 200 && status < 300;
    const { client, limits, format, call } = this.#options;
    this.#collected = new CollectedAnswer(isSuccess ? limits.replyBodyBytesMax : errorBodyBytesMax);
    if (isSuccess) client?.passHeaders(this.#passedHeaders());
    if (isSuccess && client !== undefined && !isJsonInsteadOf(format.contentType(call), headers)) {
      this.#phase = "streaming";
      this.#filter = createAttemptFilter(this.#options);
    } else this.#phase = "collecting";
  }

  /** @returns false for an encoding that cannot be undone: the attempt has ended */
  #decode(encoding: string): boolean {
    try {
      this.#decoder = ContentDecoder.for(encoding, {
        onData: (chunk) => this.#take(chunk),
        onEnd: () => this.#takeEnd(),
        onError: (error) => this.#breakOff(error),
      });
      return true;
    } catch (error) {
      this.#breakOff(error);
      return false;
    }
  }

  onData(chunk: Buffer): void {
    // Copied: the memory it lies in is read into again, and pieces of it wait in more than one place.
    const own = Buffer.from(chunk);
    if (this.#decoder === undefined) this.#take(own);
    else this.#decoder.write(own);
  }

  onEnd(): void {
    if (this.#decoder === undefined) this.#takeEnd();
    else this.#decoder.end();
  }

  onFailure(failure: UpstreamFailure): void {
    // Its end was said: what breaks behind it changes nothing.
    if (awaitsUsage(this.#filter)) this.#teller.end(this.#filter);
    else if (this.#phase === "streaming" && this.#filter !== undefined && this.#options.client?.hasBegun === true) {
      // What the upstream said before it broke may already be the whole answer.
      const problem: StreamProblem | undefined = this.#filter.isComplete ? undefined : { kind: "failure", failure };
      this.#settle({ kind: "streamed", filter: this.#filter, problem });
    } else if (this.#phase === "collecting" && this.#status >= 400) {
      this.#settle({ kind: "upstream-error", error: this.#classify() });
    } else {
      const filter = this.#filterOfPart();
      if (filter?.isComplete === true) this.#endCollecting();
      else this.#settle({ kind: "failure", failure, filter });
    }
  }

  /** Of a stream that goes to the client. */
  get openFilter(): StreamFilter | undefined {
    return this.#phase === "streaming" ? this.#filter : undefined;
  }

  /** Nothing more comes: the attempt has ended, or its stream said its last. */
  get isOver(): boolean {
    const filter = this.openFilter;
    return (
      this.#phase === "done" || (filter !== undefined && (filter.isComplete || problemOf(filter)?.kind !== "truncated"))
    );
  }

  /** A stream for a client that does not stream, as far as it came; undefined for anything else. */
  #filterOfPart(): StreamFilter | undefined {
    if (this.#phase !== "collecting" || this.#status >= 300) return undefined;
    const { format, call, limits } = this.#options;
    return this.#collected.filterOfPart(format, call, limits.eventBytesMax);
  }

  /** @param lost of the answer */
  #passedHeaders(lost: readonly string[] = []): readonly string[] {
    const { dropped } = this.#options;
    return passedHeaders(this.#headers, lost.length === 0 ? dropped : [...dropped, ...lost]);
  }

  #take(chunk: Buffer): void {
    try {
      // Whatever its head says: a stream of events does not begin with an object, and what does is a whole answer.
      if (this.#phase === "streaming" && !this.#hasBegun && isObject(chunk)) this.#phase = "collecting";
      this.#hasBegun = true;
      if (this.#phase === "streaming") this.#pass(chunk);
      else if (this.#phase === "collecting") this.#collect(chunk);
    } catch (error) {
      this.#crash(error);
    }
  }

  #collect(chunk: Buffer): void {
    // Not a stream: whatever comes is progress, and the size bounds it.
    this.#exchange.progress();
    const collected = this.#collected;
    if (collected.count(chunk)) {
      // What is read of an error is short, and must be heard also where there is no room: it decides what follows.
      if (this.#status >= 400 || this.#hold(collected.bytes)) collected.keep(chunk);
      return;
    }
    this.#exchange.abort();
    if (this.#status >= 400) this.#settle({ kind: "upstream-error", error: this.#classify() });
    else {
      const reason = `the reply exceeds ${collected.bytesMax} bytes`;
      // A page of HTML was not generated, however long it is.
      const start = collected.start.length === 0 ? chunk : collected.start;
      this.#settle({ kind: "invalid", reason, isOversized: mayBeAnswer(start) });
    }
  }

  #pass(chunk: Buffer): void {
    const filter = this.#filter;
    const { client } = this.#options;
    if (filter === undefined || client === undefined) return;
    const pieces = filter.push(chunk);
    if (filter.events !== this.#events) {
      this.#events = filter.events;
      this.#exchange.progress();
    }
    if (pieces.length > 0) this.#passPieces(client, pieces);
    if (awaitsUsage(filter)) void this.#teller.tell(filter);
    else if (filter.error !== undefined || filter.violation !== undefined || filter.isCut === true) {
      this.#exchange.abort();
      this.#endStream(filter);
    } else if (!filter.isComplete) this.#hold(filter.heldBytes);
  }

  /** Comments are nothing of the answer: another target may still give one, and few programs take them for life. */
  #passPieces(client: ClientStream, pieces: readonly Buffer[]): void {
    if (!pieces.every(hasNoData)) {
      this.#write(client, pieces);
      this.#options.onPiece();
    } else if (client.hasBegun) this.#write(client, pieces);
    else client.writeSignOfLife(() => Buffer.concat(pieces));
  }

  /** @returns false when there is no room for what waits: the attempt has ended */
  #hold(waiting: number): boolean {
    if (this.#held.hold(waiting)) return true;
    this.stop("overloaded");
    return false;
  }

  #write(client: ClientStream, pieces: readonly Buffer[]): void {
    if (client.write(pieces)) return;
    this.#exchange.pause();
    this.#decoder?.pause();
  }

  #takeEnd(): void {
    try {
      if (this.#phase === "streaming" && this.#filter !== undefined) {
        const pieces = this.#filter.end();
        if (pieces.length > 0) this.#options.client?.write(pieces);
        this.#teller.end(this.#filter);
      } else if (this.#phase === "collecting") {
        this.#endCollecting();
      }
    } catch (error) {
      this.#crash(error);
    }
  }

  #endCollecting(): void {
    this.#phase = "collected";
    void this.#judge();
  }

  /** What is whole is judged together with the answers that come with it. */
  async #judge(): Promise<void> {
    try {
      await joinBatch();
      const ending = this.#endReply();
      if (ending !== undefined) await ending;
    } catch (error) {
      this.#crash(error);
    }
  }

  #endStream(filter: StreamFilter): void {
    if (this.#options.client?.hasBegun === true) {
      this.#settle({ kind: "streamed", filter, problem: problemOf(filter) });
    } else if (filter.error !== undefined) {
      this.#settle({ kind: "upstream-error", error: filter.error, filter });
    } else {
      const reason = filter.violation ?? "the stream ended before its first event";
      this.#settle({ kind: "invalid", reason, filter });
    }
  }

  /** A promise only where the answer must be told in another manner. */
  #endReply(): Promise<void> | undefined {
    if (this.#status < 200 || this.#status >= 300) {
      this.#settle({ kind: "upstream-error", error: this.#classify() });
      return undefined;
    }
    const body = this.#collected.body();
    const { client, translation } = this.#options;
    if (isStream(body)) return this.#endCollectedStream(body);
    if (translation !== undefined || client !== undefined) return this.#endBridged(body);
    try {
      const reading = this.#options.format.readReply(body);
      if (reading.error !== undefined) this.#settle({ kind: "upstream-error", error: reading.error });
      else this.#settle({ kind: "reply", body, reading, lost: [], headers: this.#passedHeaders() });
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      this.#settle({ kind: "invalid", reason: error.message });
    }
    return undefined;
  }

  /** Events came under the name of one object, or for a call that asked for one: read to their end like any stream. */
  async #endCollectedStream(body: Buffer): Promise<void> {
    const { client, translation, format, call, limits } = this.#options;
    if (client !== undefined && translation === undefined) {
      this.#passWhole(body);
      return;
    }
    const { filter, events } = readCollectedStream(body, format, call, limits.eventBytesMax);
    const { error } = filter;
    if (error !== undefined) this.#settle({ kind: "upstream-error", error, filter });
    else if (filter.violation !== undefined || !filter.isComplete) {
      this.#settle({ kind: "invalid", reason: filter.violation ?? "the answer ended before it was complete", filter });
    } else {
      await this.#endBridged(events, { usage: filter.usage, error, produced: () => filter.produced() });
    }
  }

  /**
   * An answer may be told in another manner than it came.
   * @param read what is known of it already
   */
  async #endBridged(answer: Buffer, read?: ReplyReading): Promise<void> {
    const { client } = this.#options;
    let reading = read;
    try {
      const bridge = this.#options.bridge();
      reading ??= bridge.readReply(answer);
      await yieldToBatch;
      const { usage, error, produced } = reading;
      const told = error === undefined ? await this.#options.estimateUntold?.(usage, produced) : undefined;
      if (error !== undefined) {
        this.#settle({ kind: "upstream-error", error });
      } else if (client === undefined) {
        const { body, lost } = bridge.translateReply(answer, told);
        this.#settle({ kind: "reply", body, reading, lost, headers: this.#passedHeaders(lost) });
      } else {
        const filter = new WholeReplyFilter(reading);
        const frames = bridge.streamOfReply(answer, told);
        if (!this.#held.hold(frames.reduce((bytes, frame) => bytes + frame.length, answer.length))) {
          this.#settle({ kind: "stopped", reason: "overloaded", filter, isSent: true });
          return;
        }
        client.write(frames);
        this.#options.onPiece();
        this.#settle({ kind: "streamed", filter, problem: undefined, reply: answer });
      }
    } catch (error) {
      if (!(error instanceof GatewayError || error instanceof InvalidReply)) throw error;
      const filter = reading === undefined ? undefined : new WholeReplyFilter(reading);
      this.#settle({ kind: "invalid", reason: error.message, filter });
    }
  }

  #passWhole(body: Buffer): void {
    const { client, format, call, limits } = this.#options;
    const filter = format.createStreamFilter(call, limits.eventBytesMax);
    this.#filter = filter;
    const pieces = [...filter.push(body), ...filter.end()];
    if (pieces.length > 0) {
      client?.write(pieces);
      this.#options.onPiece();
    }
    this.#endStream(filter);
  }

  #classify(): UpstreamError {
    return classifyErrorReply(this.#status, toHeaderObject(this.#headers), this.#collected.body(), Date.now());
  }

  #breakOff(cause: unknown): void {
    this.#exchange.abort();
    this.onFailure({ kind: "broken", isSent: true, cause });
  }

  /** A bug of ours met this reply: that request fails, the process lives. */
  #crash(error: unknown): void {
    this.#exchange.abort();
    this.#phase = "done";
    this.#decoder?.close();
    this.#reject?.(error);
  }

  #settle(outcome: AttemptOutcome): void {
    if (this.#phase === "done") return;
    this.#phase = "done";
    this.#outcome = outcome;
    this.#decoder?.close();
    this.#resolve?.(outcome);
  }
}
