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
import { samplesMilliseconds } from "#proxy/settle/sound/sound-length";
import { type TokenUsage, zeroUsage } from "#proxy/settle/usage";
import type { Fleet, Route } from "#proxy/snapshot/types.gen";
import { likelyMilliseconds, reservedMilliseconds, tokensOfSound } from "./estimate-speech.ts";
import type { SpeechCall } from "./read-speech.ts";
import { isSoundStream } from "./sound-stream.ts";

/** The least sound that is charged of a call that was sent and broke off. */
const leastMilliseconds = 1_000;
/** MP3 as providers send it, 128 kbit/s. */
const usualBytesPerMillisecond = 16;
/** Samples of 24 kHz and 16 bits, half of them as FLAC, and what is made for few bytes. */
const bytesPerMillisecond: Readonly<Record<string, number>> = { pcm: 48, wav: 48, flac: 24, opus: 8, aac: 8 };

/** Whether the price asks how long the sound is: to read it out of each event costs much. */
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
  /** Of the sound of a whole reply, as far as anything tells. */
  #milliseconds: number | undefined;

  constructor({ call, route }: SettlementContext<SpeechCall>) {
    this.#call = call;
    this.units = { characters: call.characters };
    this.#isMeasured = isLengthPriced(route.price);
  }

  measure(reply: StreamFilter | ReplyReading): MeasuredUnits | undefined {
    const told = reply.units?.audioMilliseconds ?? this.#lengthOf(reply);
    this.#milliseconds = told ?? Math.max(likelyMilliseconds(this.#call), this.#byBytes(reply));
    if (!this.#isMeasured || reply.units?.audioMilliseconds !== undefined) return undefined;
    return { units: { audioMilliseconds: this.#milliseconds }, isEstimated: told === undefined };
  }

  #lengthOf(reply: StreamFilter | ReplyReading): number | undefined {
    if (!isSoundStream(reply) || reply.soundBytes === 0) return undefined;
    return this.#call.format === "pcm" ? samplesMilliseconds(reply.soundBytes) : reply.measured();
  }

  /** What passed is never less than this, where nothing tells how long it is. */
  #byBytes(reply: StreamFilter | ReplyReading): number {
    if (!isSoundStream(reply)) return 0;
    const { format = "mp3" } = this.#call;
    const each = Object.hasOwn(bytesPerMillisecond, format) ? bytesPerMillisecond[format] : undefined;
    return Math.ceil(reply.soundBytes / (each ?? usualBytesPerMillisecond));
  }

  /** By the length of the text, and of the sound: exact counts would cost more than such a call does. */
  tokens(): TokenUsage {
    return this.#tokensOf(this.#milliseconds ?? likelyMilliseconds(this.#call));
  }

  output(): TokenUsage {
    return { ...zeroUsage, audioOutput: this.tokens().audioOutput };
  }

  #tokensOf(milliseconds: number): TokenUsage {
    const { input, instructions = "" } = this.#call;
    const textBytes = Buffer.byteLength(input) + Buffer.byteLength(instructions);
    return { ...zeroUsage, input: roughTokensOf(textBytes), audioOutput: tokensOfSound(milliseconds) };
  }

  /** All of the text was read; of the sound counts what came. */
  partial(filter: StreamFilter | undefined): UsedUnits {
    const came = filter === undefined ? 0 : (this.#lengthOf(filter) ?? this.#byBytes(filter));
    const audioMilliseconds = Math.max(came, leastMilliseconds);
    return { usage: this.#tokensOf(audioMilliseconds), units: this.#unitsOf(audioMilliseconds) };
  }

  /** A reply of so many bytes holds all of the text. */
  unread(): ChargedUnits {
    return this.#unitsOf(likelyMilliseconds(this.#call));
  }

  #unitsOf(audioMilliseconds: number): ChargedUnits {
    return this.#isMeasured ? { ...this.units, audioMilliseconds } : this.units;
  }
}
