/**
 * Makes one attempt whose reply takes several requests, because the upstream makes a part of it at once: pictures, one or a
 * few at a time.
 *
 * The first request is alone, so that an upstream that refuses is asked once; then some run side by side. The reply is all
 * of them or an error: after a failure no further request begins, those that run come to their end, and what was made is
 * told to the settlement (docs/design/images.md 5). The bodies are joined to a JSON list, which the call's reader reads.
 */
import { GatewayError } from "#proxy/errors";
import type { ReplyReading } from "#proxy/formats/format";
import { InvalidReply } from "#proxy/neutral/reply";
import { WholeReplyFilter } from "#proxy/translate/whole-reply-filter";
import { Attempt } from "./attempt.ts";
import type { AttemptOptions } from "./attempt-options.ts";
import type { AttemptOutcome, StopReason } from "./attempt-outcome.ts";
import { HeldReply } from "./reply/held-reply.ts";
import { passedHeaders } from "./reply/passed-headers.ts";
import type { ReplyReader } from "./reply/reply-reader.ts";
import type { RunningAttempt } from "./running-attempt.ts";
import { type UpstreamRequest, withinTotal } from "./upstream-exchange.ts";

export interface Repeats {
  /** Those behind the first, in the order of their parts in the reply. */
  readonly further: readonly UpstreamRequest[];
  /** Of them, so many run side by side; at least 1. */
  readonly atOnceMax: number;
}

type Reply = Extract<AttemptOutcome, { kind: "reply" }>;
type Failure = Extract<AttemptOutcome, { kind: "upstream-error" | "failure" | "invalid" | "stopped" }>;

export class RepeatedAttempt implements RunningAttempt {
  readonly openFilter = undefined;
  readonly #options: AttemptOptions;
  readonly #requests: readonly UpstreamRequest[];
  readonly #atOnceMax: number;
  readonly #attempts: Attempt[] = [];
  /** By the position of their requests. */
  readonly #replies: Reply[] = [];
  readonly #held: HeldReply;
  #startedMs = 0;
  #next = 0;
  #failure: Failure | undefined;
  #stopReason: StopReason | undefined;
  #isOver = false;

  constructor(options: AttemptOptions, { further, atOnceMax }: Repeats) {
    this.#options = options;
    this.#requests = [options.request, ...further];
    this.#atOnceMax = atOnceMax;
    this.#held = new HeldReply(options.inFlightBytes);
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Nothing is passed on while it comes. */
  resume(): void {}

  release(): void {
    for (const attempt of this.#attempts) attempt.release();
    this.#held.release();
  }

  stop(reason: StopReason): void {
    if (this.#isOver) return;
    this.#stopReason ??= reason;
    for (const attempt of this.#attempts) attempt.stop(reason);
  }

  async run(): Promise<AttemptOutcome> {
    this.#startedMs = performance.now();
    this.#options.client?.passHeaders(passedHeaders([], this.#options.dropped));
    await this.#runNext();
    const lanes = Array.from({ length: this.#atOnceMax }, () => this.#runRest());
    await Promise.all(lanes);
    this.#isOver = true;
    return this.#outcome();
  }

  async #runRest(): Promise<void> {
    while (this.#next < this.#requests.length && this.#failure === undefined) await this.#runNext();
  }

  async #runNext(): Promise<void> {
    const position = this.#next;
    this.#next += 1;
    const outcome = await this.#runOne(position);
    if (outcome.kind === "reply") this.#replies[position] = outcome;
    // Without a client of its own no part is streamed.
    else if (outcome.kind !== "streamed") this.#failure ??= outcome;
  }

  #runOne(position: number): Promise<AttemptOutcome> | AttemptOutcome {
    const [request, reason] = [this.#requests[position], this.#stopReason];
    if (reason !== undefined) return { kind: "stopped", reason, filter: undefined, isSent: position > 0 };
    const passedMs = position === 0 ? 0 : performance.now() - this.#startedMs;
    const timely = request === undefined ? undefined : this.#within(request, passedMs);
    if (timely === undefined) {
      return { kind: "failure", failure: { kind: "total-timeout", isSent: false, cause: undefined } };
    }
    const reader = partReader(this.#options.reader);
    const attempt = new Attempt({ ...this.#options, request: timely, reader, client: undefined });
    this.#attempts.push(attempt);
    return attempt.run();
  }

  /** All of them have what was left of the call's time when the first was sent. @returns undefined when none is left */
  #within(request: UpstreamRequest, passedMs: number): UpstreamRequest | undefined {
    const { totalMs, leftMs = totalMs } = this.#options.request.timeouts;
    return withinTotal(request, passedMs + totalMs - leftMs);
  }

  #outcome(): AttemptOutcome {
    const made = this.#replies.filter((reply) => reply !== undefined);
    const failure = this.#failure;
    if (failure !== undefined) return made.length === 0 ? failure : this.#partOf(failure, made);
    try {
      return this.#whole(made);
    } catch (error) {
      if (!(error instanceof GatewayError || error instanceof InvalidReply)) throw error;
      return { kind: "invalid", reason: error.message };
    }
  }

  /** What was made is charged, whatever ended it. */
  #partOf(failure: Failure, made: readonly Reply[]): AttemptOutcome {
    const filter = new WholeReplyFilter(this.#read(joinedBodies(made)));
    if (failure.kind === "invalid") return { kind: "invalid", reason: failure.reason, filter };
    if (failure.kind === "stopped") return { ...failure, filter, isSent: true };
    return { ...failure, filter };
  }

  #whole(made: readonly Reply[]): AttemptOutcome {
    const body = joinedBodies(made);
    const reading = this.#read(body);
    const bridge = this.#options.reader.bridge();
    const { client } = this.#options;
    if (client === undefined) {
      const { body: response, lost } = bridge.translateReply(body);
      const headers = made[0]?.headers ?? [];
      return { kind: "reply", body: response, reading, lost, headers };
    }
    const filter = new WholeReplyFilter(reading);
    const frames = bridge.streamOfReply(body);
    if (!this.#held.hold(frames.reduce((bytes, frame) => bytes + frame.length, 0))) {
      return { kind: "stopped", reason: "overloaded", filter, isSent: true };
    }
    client.write(frames);
    this.#options.onPiece();
    return { kind: "streamed", filter, problem: undefined, reply: body };
  }

  #read(body: Buffer): ReplyReading {
    return this.#options.reader.readReply(body);
  }
}

/** Each part is judged when it comes, and stays as it is until all are there. */
function partReader(reader: ReplyReader): ReplyReader {
  const readReply = (body: Buffer): ReplyReading => reader.readReply(body);
  return {
    contentType: reader.contentType,
    isBridged: true,
    readReply,
    bridge: () => ({
      readReply,
      translateReply: (body) => ({ body, lost: [] }),
      streamOfReply: (body) => [body],
    }),
  };
}

/** Each was read as JSON. */
function joinedBodies(replies: readonly Reply[]): Buffer {
  const pieces = replies.flatMap(({ body }, index) => [Buffer.from(index === 0 ? "[" : ","), body]);
  return Buffer.concat([...pieces, Buffer.from("]")]);
}
