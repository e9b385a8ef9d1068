/**
 * Counts what a call of speech used: its characters, and the length of the sound, by what came or else by the text
 * (docs/design/audio.md 5).
 */
import { estimateTextTokens } from "#proxy/admit/estimate-cost";
import type { UnitsNeeded } from "#proxy/admit/estimate-units";
import type { SettlementContext } from "#proxy/dispatch/reservations/settle-call";
import type { MeasuredUnits, UnitCounter, UsedUnits } from "#proxy/dispatch/reservations/settle-units";
import type { ReplyReading, StreamFilter } from "#proxy/formats/format";
import { roughTokensOf } from "#proxy/settle/estimate-tokens";
import type { ChargedUnits } from "#proxy/settle/price";
import { samplesMilliseconds, soundMilliseconds } from "#proxy/settle/sound-length";
import { type TokenUsage, zeroUsage } from "#proxy/settle/usage";
import type { Fleet, Route } from "#proxy/snapshot/types.gen";
import { likelyMilliseconds, reservedMilliseconds, tokensOfSound } from "./estimate-speech.ts";
import type { SpeechCall } from "./read-speech.ts";
import { isSoundStream } from "./sound-stream.ts";

/** The least sound that is charged of a call that was sent and broke off. */
const leastMilliseconds = 1_000;
/** MP3 as providers send it, 128 kbit/s. */
const usualBytesPerMillisecond = 16;

/** Whether the price asks how long the sound is: to hold and to parse the start of each sound costs much. */
export function isLengthPriced(price: Route["price"]): boolean {
  return price?.audioMinute !== undefined;
}

/** What to reserve. */
export function speechNeeds(call: SpeechCall, fleet: Fleet): UnitsNeeded {
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
  readonly #isMeasured: boolean;
  /** Of the sound, once it was measured. */
  #milliseconds: number | undefined;

  constructor({ call, route }: SettlementContext<SpeechCall>) {
    this.#call = call;
    this.units = { characters: call.characters };
    this.#isMeasured = isLengthPriced(route.price);
  }

  measure(reply: StreamFilter | ReplyReading): Promise<MeasuredUnits> | undefined {
    this.#milliseconds = reply.units?.audioMilliseconds ?? this.#samplesOf(reply);
    return this.#isMeasured && reply.units?.audioMilliseconds === undefined ? this.#measure(reply) : undefined;
  }

  async #measure(reply: StreamFilter | ReplyReading): Promise<MeasuredUnits> {
    this.#milliseconds = await this.#lengthOf(reply);
    const audioMilliseconds = this.#milliseconds ?? likelyMilliseconds(this.#call);
    return { units: { audioMilliseconds }, isEstimated: this.#milliseconds === undefined };
  }

  async #lengthOf(reply: StreamFilter | ReplyReading): Promise<number | undefined> {
    const samples = this.#samplesOf(reply);
    return samples === undefined && isSoundStream(reply) ? soundMilliseconds(reply.sound) : samples;
  }

  /** The length of bare samples, which costs nothing to know. */
  #samplesOf(reply: StreamFilter | ReplyReading): number | undefined {
    if (this.#call.format !== "pcm" || !isSoundStream(reply) || reply.soundBytes === 0) return undefined;
    return samplesMilliseconds(reply.soundBytes);
  }

  /** By the length of the text, and of the sound: exact counts would cost more than such a call does. */
  tokens(): TokenUsage {
    return this.#tokensOf(this.#milliseconds ?? likelyMilliseconds(this.#call));
  }

  #tokensOf(milliseconds: number): TokenUsage {
    const { input, instructions = "" } = this.#call;
    const textBytes = Buffer.byteLength(input) + Buffer.byteLength(instructions);
    return { ...zeroUsage, input: roughTokensOf(textBytes), audioOutput: tokensOfSound(milliseconds) };
  }

  /** All of the text was read; of the sound counts what came. */
  async partial(filter: StreamFilter | undefined): Promise<UsedUnits> {
    const audioMilliseconds = Math.max(await this.#cameOf(filter), leastMilliseconds);
    const units = this.#isMeasured ? { ...this.units, audioMilliseconds } : this.units;
    return { usage: this.#tokensOf(audioMilliseconds), units };
  }

  async #cameOf(filter: StreamFilter | undefined): Promise<number> {
    if (filter === undefined || !isSoundStream(filter)) return 0;
    const found = this.#isMeasured ? await this.#lengthOf(filter) : this.#samplesOf(filter);
    const byBytes = Math.ceil(filter.soundBytes / usualBytesPerMillisecond);
    return found ?? Math.min(byBytes, likelyMilliseconds(this.#call));
  }
}
