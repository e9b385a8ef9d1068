/**
 * Makes one attempt to have one target serve a call: sends the request, judges the reply, passes a stream on.
 *
 * Until the first byte has gone to the client an attempt may fail without a trace, and the caller may try another
 * target. After it the stream belongs to the client and can only end: cleanly if the format's own terminator came,
 * visibly broken otherwise. An attempt never writes an error itself.
 */
import { GatewayError } from "#proxy/errors";
import { classifyErrorReply } from "#proxy/formats/classify-error";
import type { ReplyReading, StreamFilter, UpstreamError } from "#proxy/formats/format";
import { type RawHeaders, toHeaderObject } from "#proxy/http1/wire/header-values";
import { InvalidReply } from "#proxy/neutral/reply";
import { joinBatch, yieldToBatch } from "#proxy/runtime/request-batch";
import { hasNoData } from "#proxy/sse/has-no-data";
import { WholeReplyFilter } from "#proxy/translate/whole-reply-filter";
import type { AttemptOptions } from "./attempt-options.ts";
import { type AttemptOutcome, problemOf, type StopReason, type StreamProblem } from "./attempt-outcome.ts";
import type { ClientStream } from "./client/client-stream.ts";
import { awaitsUsage, LateUsageWriter } from "./late-usage-writer.ts";
import { startsWithObject, startsWithStream } from "./reply/body-start.ts";
import { CollectedReply, errorBodyBytesMax, readCollectedStream } from "./reply/collected-reply.ts";
import { DecodedReply } from "./reply/decoded-reply.ts";
import { HeldReply } from "./reply/held-reply.ts";
import { judgeReply, passedHeaders } from "./reply/passed-headers.ts";
import type { JudgedReply, StreamReader } from "./reply/reply-reader.ts";
import { UpstreamExchange, type UpstreamFailure } from "./upstream-exchange.ts";

export class Attempt extends DecodedReply {
  readonly #options: AttemptOptions;
  readonly #exchange: UpstreamExchange;
  readonly #held: HeldReply;
  readonly #lateUsage: LateUsageWriter;
  #collected = new CollectedReply(0);
  #phase: "waiting" | "collecting" | "collected" | "streaming" | "done" = "waiting";
  #hasBegun = false;
  #status = 0;
  #headers: RawHeaders = [];
  #judged: JudgedReply = {};
  #filter: StreamFilter | undefined;
  #events = 0;
  #outcome: AttemptOutcome | undefined;
  #resolve: ((outcome: AttemptOutcome) => void) | undefined;
  #reject: ((error: unknown) => void) | undefined;

  constructor(options: AttemptOptions) {
    super();
    this.#options = options;
    this.#exchange = new UpstreamExchange(options.request.timeouts, this);
    this.#held = new HeldReply(options.inFlightBytes);
    this.#lateUsage = new LateUsageWriter(options, {
      isStreaming: () => this.#phase === "streaming",
      onEnd: (filter) => this.#endStream(filter),
      onCrash: (error) => this.#crash(error),
    });
  }

  /** Resolves once, however the attempt ends; rejects only for an error in our own code. */
  run(): Promise<AttemptOutcome> {
    // Stopped before it began: nothing is sent, and nobody else would settle this promise.
    if (this.#outcome !== undefined) return Promise.resolve(this.#outcome);
    // A sign of life may begin the response before the upstream does: what was dropped of the call is known by now.
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
    const missed = this.#exchange.isSent ? this.#options.reader.missedReply?.() : undefined;
    const filter = this.#filter ?? this.#filterOfPart() ?? (missed && new WholeReplyFilter(missed, false));
    this.#collected.forget();
    this.release();
    this.#finish({ kind: "stopped", reason, filter, isSent: this.#exchange.isSent });
  }

  /** Releases what it held of the reply: that has gone out, or never will. */
  release(): void {
    this.#held.release();
  }

  /** The client reads again. */
  resume(): void {
    if (this.#phase !== "streaming") return;
    this.resumeDecoding();
    this.#exchange.resume();
  }

  onHead(status: number, headers: RawHeaders): void {
    this.#status = status;
    this.#headers = headers;
    if (!this.decode(headers)) return;
    const isSuccess = status >= 200 && status < 300;
    const { client, limits, reader } = this.#options;
    this.#collected = CollectedReply.of(headers, isSuccess ? limits.replyBodyBytesMax : errorBodyBytesMax);
    this.#phase = "collecting";
    if (!isSuccess) return;
    this.#judged = judgeReply(reader, headers);
    const { streams, responseType } = this.#judged;
    client?.passHeaders(this.#passedHeaders(), responseType);
    if (client === undefined || streams === undefined) return;
    this.#phase = "streaming";
    this.#filter = streams.createFilter(this.#options.estimateMissingUsage !== undefined);
  }

  onData(chunk: Buffer): void {
    // Copied: the memory it lies in is read into again, and pieces of it wait in more than one place.
    const own = this.#phase === "collecting" ? this.#collected.copy(chunk) : Buffer.from(chunk);
    this.write(own);
  }

  onFailure(failure: UpstreamFailure): void {
    // Its end was said: what breaks behind it changes nothing.
    if (awaitsUsage(this.#filter)) this.#lateUsage.end(this.#filter);
    else if (this.#phase === "streaming" && this.#filter !== undefined && this.#options.client?.hasBegun === true) {
      // The bytes before the failure may already be the whole reply.
      const problem: StreamProblem | undefined = this.#filter.isComplete ? undefined : { kind: "failure", failure };
      this.#finish({ kind: "streamed", filter: this.#filter, problem });
    } else if (this.#phase === "collecting" && this.#status >= 400) {
      this.#finish({ kind: "upstream-error", error: this.#classify() });
    } else {
      const filter = this.#filterOfPart();
      if (filter?.isComplete === true) void this.#endCollecting();
      else this.#finish({ kind: "failure", failure, filter });
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
    return this.#collected.filterOfPart(this.#options.reader.streams);
  }

  /** @param lost parts of the reply */
  #passedHeaders(lost?: readonly string[]): readonly string[] {
    const { dropped } = this.#options;
    return passedHeaders(this.#headers, lost === undefined ? dropped : [...dropped, ...lost]);
  }

  protected override consume(chunk: Buffer): void {
    try {
      // Whatever its head says: a stream of events does not begin with an object, so a body that does is a whole reply.
      const isFirst = this.#phase === "streaming" && !this.#hasBegun;
      if (isFirst && this.#judged.isOpaque !== true && startsWithObject(chunk)) this.#phase = "collecting";
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
    if (this.#status >= 400) this.#finish({ kind: "upstream-error", error: this.#classify() });
    else this.#finish({ kind: "invalid", ...collected.excess(chunk) });
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
    if (awaitsUsage(filter)) void this.#lateUsage.write(filter);
    else if (filter.error !== undefined || filter.violation !== undefined || filter.isCut === true) {
      this.#exchange.abort();
      this.#endStream(filter);
    } else if (!filter.isComplete) this.#hold(filter.heldBytes);
  }

  /** Comments are no part of the reply: another target may still reply, and few programs take them for a sign of life. */
  #passPieces(client: ClientStream, pieces: readonly Buffer[]): void {
    if (this.#judged.isOpaque === true || !pieces.every(hasNoData)) {
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
    this.pauseDecoding();
  }

  protected override consumeEnd(): void {
    try {
      if (this.#phase === "streaming" && this.#filter !== undefined) {
        const pieces = this.#filter.end();
        const { client } = this.#options;
        if (pieces.length > 0 && client !== undefined) this.#passPieces(client, pieces);
        this.#lateUsage.end(this.#filter);
      } else if (this.#phase === "collecting") {
        void this.#endCollecting();
      }
    } catch (error) {
      this.#crash(error);
    }
  }

  /** A whole reply is judged together with the replies that arrive with it. */
  async #endCollecting(): Promise<void> {
    this.#phase = "collected";
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
      this.#finish({ kind: "streamed", filter, problem: problemOf(filter) });
    } else if (filter.error !== undefined) {
      this.#finish({ kind: "upstream-error", error: filter.error, filter });
    } else {
      const reason = filter.violation ?? "the stream ended before its first event";
      this.#finish({ kind: "invalid", reason, filter });
    }
  }

  /** A promise only where a stream must become a whole response or the reverse. */
  #endReply(): Promise<void> | undefined {
    if (this.#status < 200 || this.#status >= 300) {
      this.#finish({ kind: "upstream-error", error: this.#classify() });
      return undefined;
    }
    const body = this.#collected.body();
    const { client, reader } = this.#options;
    if (reader.streams !== undefined && startsWithStream(body)) return this.#endCollectedStream(body, reader.streams);
    if (reader.isBridged || client !== undefined) return this.#endBridged(body);
    try {
      const reading = reader.readReply(body);
      if (reading.error !== undefined) this.#finish({ kind: "upstream-error", error: reading.error });
      else this.#finishReply(body, reading);
    } catch (error) {
      if (!(error instanceof GatewayError || error instanceof InvalidReply)) throw error;
      this.#finish({ kind: "invalid", reason: error.message });
    }
    return undefined;
  }

  /** Events came under the name of one object, or for a call that asked for one: read to their end like any stream. */
  async #endCollectedStream(body: Buffer, streams: StreamReader): Promise<void> {
    const { client, reader } = this.#options;
    if (client !== undefined && !reader.isBridged) {
      this.#passWhole(body, streams);
      return;
    }
    const { filter, events } = readCollectedStream(body, streams);
    const { error, usage, units } = filter;
    if (error !== undefined) this.#finish({ kind: "upstream-error", error, filter });
    else if (filter.violation !== undefined || !filter.isComplete) {
      this.#finish({ kind: "invalid", reason: filter.violation ?? "the reply ended before it was complete", filter });
    } else {
      await this.#endBridged(events, { usage, units, error, produced: () => filter.produced() });
    }
  }

  /**
   * A whole reply may become a stream, and a stream a whole response.
   * @param read what is known of it already
   */
  async #endBridged(reply: Buffer, read?: ReplyReading): Promise<void> {
    const { client } = this.#options;
    let reading = read;
    try {
      const bridge = this.#options.reader.bridge();
      reading ??= bridge.readReply(reply);
      await yieldToBatch;
      const { usage, error, produced } = reading;
      const estimated = error === undefined ? await this.#options.estimateMissingUsage?.(usage, produced) : undefined;
      if (error !== undefined) {
        this.#finish({ kind: "upstream-error", error, filter: new WholeReplyFilter(reading) });
      } else if (client === undefined) {
        const { body, lost } = bridge.translateReply(reply, estimated);
        this.#finishReply(body, reading, lost);
      } else {
        const filter = new WholeReplyFilter(reading);
        const frames = bridge.streamOfReply(reply, estimated);
        if (!this.#held.hold(frames.reduce((bytes, frame) => bytes + frame.length, reply.length))) {
          this.#finish({ kind: "stopped", reason: "overloaded", filter, isSent: true });
          return;
        }
        client.write(frames);
        this.#options.onPiece();
        this.#finish({ kind: "streamed", filter, problem: undefined, reply: reply });
      }
    } catch (error) {
      if (!(error instanceof GatewayError || error instanceof InvalidReply)) throw error;
      const filter = reading === undefined ? undefined : new WholeReplyFilter(reading);
      this.#finish({ kind: "invalid", reason: error.message, filter });
    }
  }

  #finishReply(body: Buffer, reading: ReplyReading, lost: readonly string[] = []): void {
    const { responseType } = this.#judged;
    this.#finish({ kind: "reply", body, reading, lost, headers: this.#passedHeaders(lost), responseType });
  }

  #passWhole(body: Buffer, streams: StreamReader): void {
    const { client } = this.#options;
    const filter = streams.createOwnFilter(false);
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

  protected override breakOff(cause: unknown): void {
    this.#exchange.abort();
    this.onFailure({ kind: "broken", isSent: true, cause });
  }

  /** A bug of ours met this reply: that request fails, the process lives. */
  #crash(error: unknown): void {
    this.#exchange.abort();
    this.#phase = "done";
    this.closeDecoder();
    this.#reject?.(error);
  }

  #finish(outcome: AttemptOutcome): void {
    if (this.#phase === "done") return;
    this.#phase = "done";
    this.#outcome = outcome;
    this.closeDecoder();
    this.#resolve?.(outcome);
  }
}
