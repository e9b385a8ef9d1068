/**
 * Counts what a call of speech used: its characters, and the length of the sound, by what came or else by the text
 * (docs/design/audio.md 5).
 */
import { estimateTextTokens } from "#proxy/admit/estimate-cost";
import type { SettlementContext } from "#proxy/dispatch/reservations/settle-call";
import type { MeasuredUnits, UnitCounter, UsedUnits } from "#proxy/dispatch/reservations/settle-units";
import { textCounter } from "#proxy/endpoints/dialects/text-counter";
import type { ReplyReading, StreamFilter } from "#proxy/formats/format";
import type { ChargedUnits } from "#proxy/settle/price";
import { samplesMilliseconds, soundMilliseconds } from "#proxy/settle/sound-length";
import type { TokenUsage } from "#proxy/settle/usage";
import type { Fleet, Route } from "#proxy/snapshot/types.gen";
import { likelyMilliseconds, reservedMilliseconds, tokensOfSound } from "./estimate-speech.ts";
import type { SpeechCall } from "./read-speech.ts";
import { isSoundStream } from "./sound-stream.ts";

/** The least sound that is charged of a call that was sent and broke off. */
const leastMilliseconds = 1_000;

/** Whether the price asks how long the sound is: to hold the start of each sound for it costs memory. */
export function isLengthPriced(price: Route["price"]): boolean {
  return (price?.audioMinute ?? price?.audioOutput ?? price?.output) !== undefined;
}

/** What to reserve. */
export function speechNeeds(call: SpeechCall, fleet: Fleet) {
  const { textBytes, bytes } = call.body;
  const audioMilliseconds = reservedMilliseconds(call);
  return {
    usage: { input: estimateTextTokens(textBytes, bytes.length, fleet), audioOutput: tokensOfSound(audioMilliseconds) },
    characters: call.characters,
    audioMilliseconds,
  };
}

export class SpeechCounter implements UnitCounter {
  readonly parts = 1;
  readonly units: ChargedUnits;
  readonly #call: SpeechCall;
  readonly #text: UnitCounter;
  readonly #isMeasured: boolean;
  /** Of the sound, once it was measured. */
  #milliseconds: number | undefined;

  constructor(context: SettlementContext<SpeechCall>) {
    this.#call = context.call;
    this.units = { characters: context.call.characters };
    this.#text = textCounter(context, { parts: 1 });
    this.#isMeasured = isLengthPriced(context.route.price);
  }

  measure(reply: StreamFilter | ReplyReading): Promise<MeasuredUnits> | undefined {
    this.#milliseconds = reply.units?.audioMilliseconds;
    return this.#isMeasured && this.#milliseconds === undefined ? this.#measure(reply) : undefined;
  }

  async #measure(reply: StreamFilter | ReplyReading): Promise<MeasuredUnits> {
    this.#milliseconds = await this.#lengthOf(reply);
    const audioMilliseconds = this.#milliseconds ?? likelyMilliseconds(this.#call);
    return { units: { audioMilliseconds }, isEstimated: this.#milliseconds === undefined };
  }

  async #lengthOf(reply: StreamFilter | ReplyReading): Promise<number | undefined> {
    if (!isSoundStream(reply)) return undefined;
    const { sound } = reply;
    return this.#call.format === "pcm" ? samplesMilliseconds(sound.bytes) : soundMilliseconds(sound);
  }

  /** The text is counted, and sound by its length. */
  async tokens(): Promise<TokenUsage> {
    const audioOutput = tokensOfSound(this.#milliseconds ?? likelyMilliseconds(this.#call));
    return { ...(await this.#text.tokens()), audioOutput };
  }

  /** All of the text was read; of the sound counts what came. */
  async partial(filter: StreamFilter | undefined): Promise<UsedUnits> {
    const came = filter === undefined || !this.#isMeasured ? undefined : await this.#lengthOf(filter);
    const audioMilliseconds = Math.max(came ?? 0, leastMilliseconds);
    const usage = { ...(await this.#text.tokens()), audioOutput: tokensOfSound(audioMilliseconds) };
    return { usage, units: this.#isMeasured ? { ...this.units, audioMilliseconds } : this.units };
  }
}
