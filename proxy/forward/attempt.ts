/**
 * One attempt to have one target answer a call: sends the request, judges the reply, passes a stream on.
 *
 * Until the first byte has gone to the client an attempt may fail without a trace, and the caller may try another
 * target; after it the stream belongs to the client and can only end, cleanly if the format's own terminator came,
 * visibly broken otherwise. An attempt never writes an error itself.
 */
import { GatewayError } from "../errors.ts";
import { clientHeaders } from "../http/header-rules.ts";
import { headerValues, type RawHeaders, toHeaderObject } from "../http/header-values.ts";
import type { InFlightBytes } from "../http/in-flight-bytes.ts";
import type { ProxyLimits } from "../limits.ts";
import type { ChatCall, ChatFormat, ReplyReading, StreamMeter, UpstreamError } from "../protocols/chat-format.ts";
import { classifyErrorReply } from "../protocols/classify-error.ts";
import { droppedHeader } from "../translate/dropped-fields.ts";
import { InvalidReply } from "../translate/reply.ts";
import { TranslatingMeter } from "../translate/translating-meter.ts";
import type { Translation } from "../translate/translation.ts";
import { readingOfViolation, WholeReplyMeter } from "../translate/whole-reply-meter.ts";
import { nextTurn, otherCalls } from "../turn.ts";
import { type AttemptOutcome, problemOf, type StopReason, type StreamProblem } from "./attempt-outcome.ts";
import { isArray, isObject, isStream, joined, mayBeAnswer } from "./body-start.ts";
import type { ClientStream } from "./client-stream.ts";
import { ContentDecoder } from "./content-decoder.ts";
import { HeldAnswer } from "./held-answer.ts";
import type { Upstream } from "./http1/upstream.ts";
import { UpstreamExchange, type UpstreamFailure, type UpstreamRequest } from "./upstream-exchange.ts";

export interface AttemptOptions {
  readonly upstream: Upstream;
  readonly request: UpstreamRequest;
  /** Spoken with the upstream. */
  readonly format: ChatFormat;
  /** As the upstream reads it. */
  readonly call: ChatCall;
  /** Set when the client speaks another format: what goes to it is translated. */
  readonly translation: Translation | undefined;
  /** Fields of the client's that the upstream does not get, by the client's names. */
  readonly dropped: readonly string[];
  /** For an answer that is streamed though not asked to, or the reverse. @throws GatewayError, InvalidReply */
  readonly bridge: () => Translation;
  readonly limits: ProxyLimits;
  /** What of the answer waits here counts there. */
  readonly inFlightBytes: InFlightBytes;
  /** Undefined for a call that is not streamed. */
  readonly client: ClientStream | undefined;
  /** First content has been passed on, and when each further piece was: for the latency metrics. */
  readonly onPiece: () => void;
}

/** Error bodies are read no further than this; the rest says nothing more. */
const errorBodyBytesMax = 256 * 1024;

type Phase = "waiting" | "collecting" | "collected" | "streaming" | "done";

export class Attempt {
  readonly #options: AttemptOptions;
  readonly #exchange: UpstreamExchange;
  readonly #held: HeldAnswer;
  readonly #chunks: Buffer[] = [];
  #collectedBytes = 0;
  #collectedBytesMax = 0;
  #phase: Phase = "waiting";
  #hasBegun = false;
  #status = 0;
  #headers: RawHeaders = [];
  #meter: StreamMeter | undefined;
  #decoder: ContentDecoder | undefined;
  #events = 0;
  #silence: NodeJS.Timeout | undefined;
  #outcome: AttemptOutcome | undefined;
  #resolve: ((outcome: AttemptOutcome) => void) | undefined;
  #reject: ((error: unknown) => void) | undefined;

  constructor(options: AttemptOptions) {
    this.#options = options;
    this.#exchange = new UpstreamExchange(options.request.timeouts, this);
    this.#held = new HeldAnswer(options.inFlightBytes);
  }

  /** Resolves once, however the attempt ends; rejects only for an error in our own code. */
  run(): Promise<AttemptOutcome> {
    // Stopped before it began: nothing is sent, and nobody else would settle this promise.
    if (this.#outcome !== undefined) return Promise.resolve(this.#outcome);
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
    // Others may be waiting for the room while this call is being settled.
    this.#chunks.length = 0;
    this.release();
    this.#settle({ kind: "stopped", reason, meter: this.#meter, isSent: this.#exchange.isSent });
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
    try {
      this.#decoder = ContentDecoder.for(headerValues(headers, "content-encoding").join(","), {
        onData: (chunk) => this.#take(chunk),
        onEnd: () => this.#takeEnd(),
        onError: (error) => this.#breakOff(error),
      });
    } catch (error) {
      this.#breakOff(error);
      return;
    }
    const isSuccess = status >= 200 && status < 300;
    const { client, limits } = this.#options;
    this.#collectedBytesMax = isSuccess ? limits.replyBodyBytesMax : errorBodyBytesMax;
    if (isSuccess) client?.addHeaders(this.#passedHeaders());
    if (isSuccess && client !== undefined && !this.#isJsonInsteadOfStream()) {
      this.#phase = "streaming";
      this.#meter = this.#createMeter();
    } else this.#phase = "collecting";
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
    if (this.#phase === "streaming" && this.#meter !== undefined && this.#options.client?.isStarted === true) {
      // What the upstream said before it broke may already be the whole answer.
      const problem: StreamProblem | undefined = this.#meter.isComplete ? undefined : { kind: "failure", failure };
      this.#settle({ kind: "streamed", meter: this.#meter, problem });
    } else if (this.#phase === "collecting" && this.#status >= 400) {
      this.#settle({ kind: "upstream-error", error: this.#classify() });
    } else {
      this.#settle({ kind: "failure", failure });
    }
  }

  /** Of the upstream what may pass, and what of the call was dropped. Names and values in turn. */
  #passedHeaders(): readonly string[] {
    const headers = clientHeaders(this.#headers);
    const dropped = droppedHeader(this.#options.dropped);
    return dropped === undefined ? headers : [...headers, "x-tollgate-dropped", dropped];
  }

  #createMeter(): StreamMeter {
    const { translation, format, call, limits } = this.#options;
    const translating = translation?.createStreamMeter(limits.eventBytesMax, limits.replyBodyBytesMax);
    return translating ?? format.createStreamMeter(call, limits.eventBytesMax);
  }

  /** A stream was asked for and a JSON body came: an error in disguise, or no stream. */
  #isJsonInsteadOfStream(): boolean {
    const received = headerValues(this.#headers, "content-type")[0] ?? "";
    return (
      received.startsWith("application/json") &&
      !this.#options.format.contentType(this.#options.call).startsWith("application/json")
    );
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
    this.#collectedBytes += chunk.length;
    if (this.#collectedBytes <= this.#collectedBytesMax) {
      // What is read of an error is short, and must be heard also where there is no room: it decides what follows.
      if (this.#status >= 400 || this.#hold(this.#collectedBytes)) this.#chunks.push(chunk);
      return;
    }
    this.#exchange.abort();
    if (this.#status >= 400) this.#settle({ kind: "upstream-error", error: this.#classify() });
    else {
      const reason = `the reply exceeds ${this.#collectedBytesMax} bytes`;
      // A page of HTML was not generated, however long it is.
      this.#settle({ kind: "invalid", reason, isOversized: mayBeAnswer(this.#chunks[0] ?? chunk) });
    }
  }

  #pass(chunk: Buffer): void {
    const meter = this.#meter;
    const { client } = this.#options;
    if (meter === undefined || client === undefined) return;
    const pieces = meter.push(chunk);
    if (meter.events !== this.#events) {
      this.#events = meter.events;
      this.#exchange.progress();
    }
    if (pieces.length > 0) {
      this.#write(client, pieces);
      this.#options.onPiece();
      this.#watchSilence(meter);
    }
    if (meter.error !== undefined || meter.violation !== undefined || meter.isCut === true) {
      this.#exchange.abort();
      this.#endStream(meter);
    } else if (!meter.isComplete) this.#hold(meter.heldBytes);
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

  /**
   * What an upstream says may mean nothing to a client of another format, or wait until it is whole: the client hears
   * from us then, so that nothing between takes its connection for dead (`protocols/translation.md` section 9.2).
   */
  #watchSilence(meter: StreamMeter): void {
    if (this.#silence !== undefined) {
      this.#silence.refresh();
    } else if (meter instanceof TranslatingMeter) {
      this.#silence = setTimeout(() => this.#breakSilence(meter), this.#options.limits.clientSilenceMs);
    }
  }

  #breakSilence(meter: TranslatingMeter): void {
    const { client } = this.#options;
    if (this.#phase !== "streaming" || client === undefined) return;
    const pieces = meter.ping();
    if (pieces.length > 0) this.#write(client, pieces);
    this.#silence?.refresh();
  }

  #takeEnd(): void {
    try {
      if (this.#phase === "streaming" && this.#meter !== undefined) {
        const pieces = this.#meter.end();
        if (pieces.length > 0) this.#options.client?.write(pieces);
        this.#endStream(this.#meter);
      } else if (this.#phase === "collecting") {
        this.#phase = "collected";
        nextTurn()
          .then(() => this.#endReply())
          .catch((error: unknown) => this.#crash(error));
      }
    } catch (error) {
      this.#crash(error);
    }
  }

  #endStream(meter: StreamMeter): void {
    if (this.#options.client?.isStarted === true) {
      this.#settle({ kind: "streamed", meter, problem: problemOf(meter) });
    } else if (meter.error !== undefined) {
      this.#settle({ kind: "upstream-error", error: meter.error });
    } else {
      const reason = meter.violation ?? "the stream ended before its first event";
      this.#settle({ kind: "invalid", reason, reading: readingOfViolation(meter) });
    }
  }

  async #endReply(): Promise<void> {
    if (this.#status < 200 || this.#status >= 300) {
      this.#settle({ kind: "upstream-error", error: this.#classify() });
      return;
    }
    const body = joined(this.#chunks);
    if (this.#isArrayInsteadOfEvents(body)) {
      this.#passWhole(body);
      return;
    }
    if (this.#options.translation !== undefined || this.#isOfOtherManner(body)) {
      await this.#endTranslated(body);
      return;
    }
    try {
      const reading = this.#options.format.readReply(body);
      if (reading.error !== undefined) this.#settle({ kind: "upstream-error", error: reading.error });
      else this.#settle({ kind: "reply", body, reading, headers: this.#passedHeaders() });
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      this.#settle({ kind: "invalid", reason: error.message });
    }
  }

  /** A stream was asked for and one body came, or events came for a call that asked for one body. */
  #isOfOtherManner(body: Buffer): boolean {
    if (this.#options.client !== undefined) return true;
    return isStream(body);
  }

  /** A translated answer may stream though the upstream did not, and the reverse. */
  async #endTranslated(body: Buffer): Promise<void> {
    const { client } = this.#options;
    let reading: ReplyReading | undefined;
    try {
      const translation = this.#options.bridge();
      reading = translation.readReply(body);
      await otherCalls;
      if (reading.error !== undefined) {
        this.#settle({ kind: "upstream-error", error: reading.error });
      } else if (client === undefined) {
        this.#settle({
          kind: "reply",
          body: translation.translateReply(body),
          reading,
          headers: this.#passedHeaders(),
        });
      } else {
        client.write([translation.streamOfReply(body)]);
        this.#options.onPiece();
        this.#settle({ kind: "streamed", meter: new WholeReplyMeter(reading), problem: undefined });
      }
    } catch (error) {
      if (!(error instanceof GatewayError || error instanceof InvalidReply)) throw error;
      this.#settle({ kind: "invalid", reason: error.message, reading });
    }
  }

  /** Events were asked for (`alt=sse`) and the other form of a Gemini-style stream came: its meter reads both. */
  #isArrayInsteadOfEvents(body: Buffer): boolean {
    const { client, call, translation } = this.#options;
    if (translation !== undefined || client === undefined || call.endpoint.format !== "GenerateContent") return false;
    return isArray(body);
  }

  #passWhole(body: Buffer): void {
    const { client, format, call, limits } = this.#options;
    const meter = format.createStreamMeter(call, limits.eventBytesMax);
    this.#meter = meter;
    const pieces = [...meter.push(body), ...meter.end()];
    if (pieces.length > 0) {
      client?.write(pieces);
      this.#options.onPiece();
    }
    this.#endStream(meter);
  }

  #classify(): UpstreamError {
    return classifyErrorReply(this.#status, toHeaderObject(this.#headers), joined(this.#chunks), Date.now());
  }

  #breakOff(cause: unknown): void {
    this.#exchange.abort();
    this.onFailure({ kind: "broken", isSent: true, cause });
  }

  /** A bug of ours met this reply: that request fails, the process lives. */
  #crash(error: unknown): void {
    this.#exchange.abort();
    this.#phase = "done";
    clearTimeout(this.#silence);
    this.#decoder?.close();
    this.#reject?.(error);
  }

  #settle(outcome: AttemptOutcome): void {
    if (this.#phase === "done") return;
    this.#phase = "done";
    this.#outcome = outcome;
    clearTimeout(this.#silence);
    this.#decoder?.close();
    this.#resolve?.(outcome);
  }
}
