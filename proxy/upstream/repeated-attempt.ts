/**
 * Makes one attempt whose reply takes several requests, because the upstream makes a part of it at once: pictures, one or a
 * few at a time.
 *
 * The first request is alone, so that an upstream that refuses is asked once; then some run side by side. The reply is all
 * of them or an error: after a failure no further request begins, those that run come to their end, and what was made is
 * told to the settlement (docs/design/images.md 5). Each part is read once, when it comes; all of them together are no larger
 * than one reply may be, and are counted as long as they are held.
 */
import { GatewayError } from "#proxy/errors";
import { InvalidReply } from "#proxy/neutral/reply";
import { WholeReplyFilter } from "#proxy/translate/whole-reply-filter";
import { Attempt } from "./attempt.ts";
import type { AttemptOptions } from "./attempt-options.ts";
import type { AttemptOutcome, StopReason } from "./attempt-outcome.ts";
import { HeldReply } from "./reply/held-reply.ts";
import { passedHeaders } from "./reply/passed-headers.ts";
import type { PartedReply, ReplyReader } from "./reply/reply-reader.ts";
import type { RunningAttempt } from "./running-attempt.ts";
import { type UpstreamRequest, withinTotal } from "./upstream-exchange.ts";

export interface Repeats {
  /** Those behind the first, in the order of their parts in the reply. */
  readonly further: readonly UpstreamRequest[];
  /** Of them, so many run side by side; at least 1. */
  readonly atOnceMax: number;
  readonly reply: PartedReply;
}

type Part = Extract<AttemptOutcome, { kind: "reply" }>;
type Failure = Extract<AttemptOutcome, { kind: "upstream-error" | "failure" | "invalid" | "stopped" }>;

export class RepeatedAttempt implements RunningAttempt {
  readonly openFilter = undefined;
  readonly #options: AttemptOptions;
  readonly #requests: readonly UpstreamRequest[];
  readonly #atOnceMax: number;
  readonly #reply: PartedReply;
  readonly #running = new Set<Attempt>();
  readonly #held: HeldReply;
  #startedMs = 0;
  #next = 0;
  /** Of all parts that came. */
  #bytes = 0;
  #headers: readonly string[] = [];
  /** Something was made, or may have been. */
  #hasMade = false;
  #hasMissed = false;
  #failure: Failure | undefined;
  #stopReason: StopReason | undefined;
  #isOver = false;

  constructor(options: AttemptOptions, { further, atOnceMax, reply }: Repeats) {
    this.#options = options;
    this.#requests = [options.request, ...further];
    this.#atOnceMax = atOnceMax;
    this.#reply = reply;
    this.#held = new HeldReply(options.inFlightBytes);
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Nothing is passed on while it comes. */
  resume(): void {}

  release(): void {
    for (const attempt of this.#running) attempt.release();
    this.#held.release();
  }

  stop(reason: StopReason): void {
    if (this.#isOver) return;
    this.#stopReason ??= reason;
    for (const attempt of this.#running) attempt.stop(reason);
  }

  async run(): Promise<AttemptOutcome> {
    this.#startedMs = performance.now();
    this.#options.client?.passHeaders(this.#passedHeaders([]));
    await this.#runNext();
    const lanes = Array.from({ length: this.#atOnceMax }, () => this.#runRest());
    const ends = await Promise.allSettled(lanes);
    this.#isOver = true;
    for (const end of ends) if (end.status === "rejected") throw end.reason;
    return this.#outcome();
  }

  async #runRest(): Promise<void> {
    try {
      while (this.#next < this.#requests.length && this.#failure === undefined) await this.#runNext();
    } catch (error) {
      // A bug of ours met this part: nobody waits for the others, nor reads why they ended.
      this.stop("shutting-down");
      throw error;
    }
  }

  async #runNext(): Promise<void> {
    const position = this.#next;
    this.#next += 1;
    const outcome = await this.#runOne(position);
    if (outcome.kind !== "reply") this.#failure ??= outcome;
  }

  async #runOne(position: number): Promise<Part | Failure> {
    const [request, reason] = [this.#requests[position], this.#stopReason];
    if (reason !== undefined) return { kind: "stopped", reason, filter: undefined, isSent: false };
    const passedMs = position === 0 ? 0 : performance.now() - this.#startedMs;
    const timely = request === undefined ? undefined : this.#within(request, passedMs);
    if (timely === undefined) {
      return { kind: "failure", failure: { kind: "total-timeout", isSent: false, cause: undefined } };
    }
    const reader = new PartReader(this.#options.reader.contentType, this.#reply, position);
    const attempt = new Attempt({ ...this.#options, request: timely, reader, dropped: [], client: undefined });
    this.#running.add(attempt);
    this.#options.onRequest?.();
    try {
      const outcome = await attempt.run();
      if (outcome.kind === "streamed") throw new TypeError("a part of a reply was streamed");
      if (outcome.kind === "reply") return this.#keep(outcome, reader.bytes);
      if (outcome.kind === "stopped" && outcome.isSent) this.#miss(position);
      return outcome;
    } finally {
      this.#running.delete(attempt);
      attempt.release();
    }
  }

  /** All of them have what was left of the call's time when the first was sent. @returns undefined when none is left */
  #within(request: UpstreamRequest, passedMs: number): UpstreamRequest | undefined {
    const { totalMs, leftMs = totalMs } = this.#options.request.timeouts;
    return withinTotal(request, passedMs + totalMs - leftMs);
  }

  /** @param bytes of the part */
  #keep(part: Part, bytes: number): Part | Failure {
    this.#hasMade = true;
    this.#bytes += bytes;
    if (this.#headers.length === 0) this.#headers = part.headers;
    const { replyBodyBytesMax } = this.#options.limits;
    if (this.#bytes > replyBodyBytesMax) {
      return { kind: "invalid", reason: `the replies together exceed ${replyBodyBytesMax} bytes` };
    }
    return this.#held.hold(this.#bytes) ? part : overloaded;
  }

  #miss(position: number): void {
    this.#hasMade = true;
    this.#hasMissed = true;
    this.#reply.missPart(position);
  }

  #outcome(): AttemptOutcome {
    const failure = this.#failure;
    if (failure !== undefined) return this.#hasMade ? this.#partOf(failure) : failure;
    try {
      return this.#whole();
    } catch (error) {
      if (!(error instanceof GatewayError || error instanceof InvalidReply)) throw error;
      return { kind: "invalid", reason: error.message };
    }
  }

  /** What was made is charged, whatever ended it. */
  #partOf(failure: Failure): AttemptOutcome {
    const filter = new WholeReplyFilter(this.#reply.reading(), !this.#hasMissed);
    return failure.kind === "stopped" ? { ...failure, filter, isSent: true } : { ...failure, filter };
  }

  #whole(): AttemptOutcome {
    const reading = this.#reply.reading();
    const filter = new WholeReplyFilter(reading);
    const { client } = this.#options;
    if (client === undefined) {
      const { body, lost } = this.#reply.translate();
      if (!this.#held.hold(this.#bytes + body.length)) return { ...overloaded, filter };
      return { kind: "reply", body, reading, lost, headers: this.#passedHeaders(lost) };
    }
    const frames = this.#reply.stream();
    const bytes = frames.reduce((sum, frame) => sum + frame.length, this.#bytes);
    if (!this.#held.hold(bytes)) return { ...overloaded, filter };
    client.write(frames);
    this.#options.onPiece();
    return { kind: "streamed", filter, problem: undefined };
  }

  #passedHeaders(lost: readonly string[]): readonly string[] {
    return [...this.#headers, ...passedHeaders([], [...this.#options.dropped, ...lost])];
  }
}

/** There is no room for what was made. */
const overloaded = { kind: "stopped", reason: "overloaded", filter: undefined, isSent: true } as const;

/** Reads one part into the reply that it belongs to; nothing of it is sent. */
class PartReader implements ReplyReader {
  readonly contentType: string;
  readonly isBridged = true;
  /** Of the part. */
  bytes = 0;
  readonly #reply: PartedReply;
  readonly #position: number;

  constructor(contentType: string, reply: PartedReply, position: number) {
    this.contentType = contentType;
    this.#reply = reply;
    this.#position = position;
  }

  readReply(body: Buffer): ReturnType<ReplyReader["readReply"]> {
    this.bytes = body.length;
    return this.#reply.readPart(this.#position, body);
  }

  bridge(): ReturnType<ReplyReader["bridge"]> {
    return {
      readReply: (body) => this.readReply(body),
      translateReply: () => ({ body: Buffer.alloc(0), lost: [] }),
      streamOfReply: () => [],
    };
  }
}
