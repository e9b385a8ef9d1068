/**
 * The calls of one session that run now: responses and transcriptions, each reserved before and settled after.
 *
 * A response that the client asks for is reserved before it is asked of the upstream. One that the upstream begins by
 * itself, because it heard the speaker pause, is reserved when it says so; where it is refused, what it takes until it is
 * cancelled is charged all the same. What runs when the session ends is charged by what it has said.
 */
import { GatewayError } from "#proxy/errors";
import { asText, isObject, type JsonObject, memberAt } from "#proxy/json/json-value";
import type { EndCode } from "#proxy/observe/access-log";
import { type TokenUsage, zeroUsage } from "#proxy/settle/usage";
import type { Fleet, Route } from "#proxy/snapshot/types.gen";
import { audioBytesPerSecond, type ConversationSize, type SizeMark } from "./conversation-size.ts";
import type { MessageSize } from "./message-size.ts";
import { ProducedOutput } from "./produced-output.ts";
import { readResponseUsage, readTranscriptionUsage } from "./read-usage.ts";
import type { ResponseReservation } from "./response-reservation.ts";

/** Made anew for each call, by the configuration that holds then. */
export interface CallTerms {
  readonly reservation: ResponseReservation;
  readonly fleet: Fleet;
  readonly route: Route;
}

/** A response as the client asks for it. */
export interface AskedResponse {
  /** Of the client's message: an upstream that refuses it names it. */
  readonly eventId: string;
  readonly outputCap: number | undefined;
  /** What it alone reads. */
  readonly own: MessageSize;
  /** Beside the conversation (`conversation: "none"`): what it says is not read by the next one. */
  readonly isOutOfBand: boolean;
  /** Repeated by the upstream when it begins. */
  readonly metadata: unknown;
}

interface Call {
  readonly terms: CallTerms;
  /** Undefined for one that the upstream began by itself. */
  readonly asked: AskedResponse | undefined;
  readonly sinceMs: number;
  /** What the conversation held when it began. */
  readonly mark: SizeMark;
  /** What the model reads, as estimated when it began. */
  readonly input: TokenUsage;
  readonly produced: ProducedOutput;
  /** Settlement waits for it. */
  readonly reserved: Promise<GatewayError | undefined>;
}

export class CallsInFlight {
  readonly #size: ConversationSize;
  readonly #estimateTokens: (text: string) => Promise<number>;
  /** Asked for and not begun, by the id of the client's message, in order. */
  readonly #asked = new Map<string, Call>();
  readonly #responses = new Map<string, Call>();
  readonly #transcriptions = new Map<string, Call>();
  /** Of the session: the most that a response may say which has no cap of its own. */
  outputCap: number | undefined;
  #outputBytesPerSecond = audioBytesPerSecond(undefined);
  #hasEnded = false;

  constructor(size: ConversationSize, estimateTokens: (text: string) => Promise<number>) {
    this.#size = size;
    this.#estimateTokens = estimateTokens;
  }

  get isIdle(): boolean {
    return this.#asked.size + this.#responses.size === 0;
  }

  /** Nothing at all runs, nor a transcription. */
  get isEmpty(): boolean {
    return this.isIdle && this.#transcriptions.size === 0;
  }

  set outputFormat(format: unknown) {
    this.#outputBytesPerSecond = audioBytesPerSecond(format);
  }

  /** The client asks for a response. @returns why it must not have it; nothing is held then */
  async ask(asked: AskedResponse, terms: CallTerms): Promise<GatewayError | undefined> {
    const { eventId } = asked;
    if (this.#asked.has(eventId)) {
      const message = "'event_id' is that of a response that has not begun yet. Give each message its own.";
      return new GatewayError("invalid_value", message, { param: "event_id" });
    }
    const call = this.#start(asked, terms);
    const refusal = await call.reserved;
    if (refusal !== undefined) terms.reservation.refused(refusal);
    else if (this.#hasEnded) await terms.reservation.release(false);
    else this.#asked.set(eventId, call);
    return refusal;
  }

  /** The session ended before the client's message could go upstream. @param eventId of that message */
  async unsent(eventId: string): Promise<void> {
    const call = this.#asked.get(eventId);
    if (call === undefined) return;
    this.#asked.delete(eventId);
    await call.terms.reservation.release(false);
  }

  /** The upstream refused what the client asked for. @param eventId of the client's message */
  async refused(eventId: string, error: GatewayError): Promise<void> {
    const call = this.#asked.get(eventId);
    if (call === undefined) return;
    this.#asked.delete(eventId);
    await call.terms.reservation.release(true);
    call.terms.reservation.refused(error);
  }

  /**
   * A response has begun.
   * @param response of `response.created`
   * @param terms for one that nobody asked for
   * @returns why it must be cancelled
   */
  async began(response: JsonObject, terms: () => CallTerms): Promise<GatewayError | undefined> {
    const responseId = asText(response["id"]);
    const asked = this.#askedFor(response);
    if (asked !== undefined) {
      this.#asked.delete(asked[0]);
      this.#responses.set(responseId, asked[1]);
      return undefined;
    }
    const call = this.#start(undefined, terms());
    this.#responses.set(responseId, call);
    return call.reserved;
  }

  /**
   * A response does not name the message that asked for it. One beside the conversation has no conversation, and metadata
   * come back as they were sent; of those that are alike the first has begun.
   */
  #askedFor(response: JsonObject): [string, Call] | undefined {
    const waiting = [...this.#asked];
    const isOutOfBand = response["conversation_id"] === null;
    const isInBand = typeof response["conversation_id"] === "string";
    const metadata = textOf(response["metadata"]);
    const fits = waiting.filter(([, { asked }]) =>
      isOutOfBand ? asked?.isOutOfBand === true : !isInBand || asked?.isOutOfBand === false,
    );
    return fits.find(([, { asked }]) => textOf(asked?.metadata) === metadata) ?? fits[0];
  }

  /** Something that was asked for has not begun in time. */
  hasUnanswered(nowMs: number): boolean {
    for (const { sinceMs } of this.#asked.values()) return nowMs - sinceMs >= answeredWithinMs;
    return false;
  }

  /** What the upstream does not reply to is given back: it would hold its reservation for as long as the session lasts. */
  async forgetUnanswered(nowMs: number): Promise<void> {
    for (const [eventId, call] of this.#asked) {
      if (nowMs - call.sinceMs < answeredWithinMs) return;
      this.#asked.delete(eventId);
      await call.terms.reservation.release(true);
      call.terms.reservation.report(unanswered, "sD");
    }
  }

  #start(asked: AskedResponse | undefined, terms: CallTerms): Call {
    const { fleet, route, reservation } = terms;
    const outputCap = asked === undefined ? this.outputCap : asked.outputCap;
    const reserved = reservation.reserve(this.#size.estimate(outputCap, route, fleet, asked?.own));
    const input = this.#size.input(false, asked?.own);
    return {
      terms,
      asked,
      sinceMs: performance.now(),
      mark: this.#size.mark(),
      input,
      produced: new ProducedOutput(),
      reserved,
    };
  }

  /** An event with a part of a response. Those of two that run side by side name theirs near the front. */
  produced(type: string, event: Buffer): void {
    for (const [id, call] of this.#responses) {
      if (this.#responses.size > 1 && !event.subarray(0, idsWithinBytes).includes(id)) continue;
      call.terms.reservation.record.pieceSent();
      call.produced.add(type, event);
      return;
    }
  }

  /** @param response of `response.done` */
  async responded(response: JsonObject): Promise<void> {
    const id = asText(response["id"]);
    const call = this.#responses.get(id);
    if (call === undefined) return;
    this.#responses.delete(id);
    const usage = readResponseUsage(response["usage"]);
    const isOutOfBand = call.asked?.isOutOfBand === true || response["conversation_id"] === null;
    if (usage !== undefined && !isOutOfBand) this.#size.responded(usage, call.mark);
    await call.reserved;
    const { reservation } = call.terms;
    if (usage !== undefined) await reservation.settle(usage, false);
    else if (response["status"] === "failed" && call.produced.isNothing) await reservation.release(true);
    else await this.#settleEstimated(call);
    reservation.report();
  }

  /** A part of what the client said is being transcribed. @returns why the session must end */
  async heard(itemId: string, terms: CallTerms): Promise<GatewayError | undefined> {
    const audioInput = this.#size.takeAudioTokens();
    const input = { ...zeroUsage, audioInput };
    const reserved = terms.reservation.reserve(this.#size.estimateTranscription(audioInput, terms.route));
    this.#transcriptions.set(itemId, {
      terms,
      asked: undefined,
      sinceMs: performance.now(),
      mark: this.#size.mark(),
      input,
      produced: new ProducedOutput(),
      reserved,
    });
    return reserved;
  }

  /** It is reserved, and has not ended. @param event that names the item */
  isTranscribing(event: JsonObject): boolean {
    return this.#transcriptions.has(asText(event["item_id"]));
  }

  /** @param event of a transcription that has ended, well or not */
  async transcribed(event: JsonObject): Promise<void> {
    const itemId = asText(event["item_id"]);
    const call = this.#transcriptions.get(itemId);
    if (call === undefined) return;
    this.#transcriptions.delete(itemId);
    await call.reserved;
    const { reservation } = call.terms;
    const usage = readTranscriptionUsage(event["usage"]);
    const transcript = asText(event["transcript"]);
    if (usage !== undefined) await reservation.settle(usage.tokens, false, usage.seconds);
    else if (transcript === "") await reservation.release(true);
    else await reservation.settle({ ...call.input, output: await this.#estimateTokens(transcript) }, true);
    reservation.report();
  }

  /** The session is over: what runs is charged by what it has read and said. @param error undefined: the client left */
  async end(error: GatewayError | undefined, end: EndCode): Promise<void> {
    this.#hasEnded = true;
    const calls = [...this.#asked.values(), ...this.#responses.values(), ...this.#transcriptions.values()];
    this.#asked.clear();
    this.#responses.clear();
    this.#transcriptions.clear();
    for (const call of calls) {
      await call.reserved;
      await this.#settleEstimated(call);
      if (error === undefined) call.terms.reservation.reportLeft(end);
      else call.terms.reservation.report(error, end);
    }
  }

  async #settleEstimated({ input, produced, terms }: Call): Promise<void> {
    const said = await produced.tokens(this.#outputBytesPerSecond, this.#estimateTokens);
    await terms.reservation.settle({ ...input, ...said }, true);
  }
}

/** An upstream begins what it is asked for within a second or two. */
const answeredWithinMs = 60_000;
const unanswered = new GatewayError("upstream_timeout", "Upstream server error: it did not begin a response in time.");

function textOf(metadata: unknown): string {
  return JSON.stringify(metadata ?? {});
}

/** Ids stand before what a model said. */
const idsWithinBytes = 400;

/** The format of the audio that a session says, from its description; undefined where it says none. */
export function outputFormatOf(session: unknown): unknown {
  return formatName(memberAt(session, "audio", "output", "format")) ?? memberAt(session, "output_audio_format");
}

export function inputFormatOf(session: unknown): unknown {
  return formatName(memberAt(session, "audio", "input", "format")) ?? memberAt(session, "input_audio_format");
}

function formatName(format: unknown): unknown {
  return isObject(format) ? format["type"] : format;
}
