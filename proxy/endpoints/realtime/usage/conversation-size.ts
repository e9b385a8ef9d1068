/**
 * Follows how much a model will read for the next response of a session, so that it is reserved before it begins (PURE).
 *
 * After each response the upstream's own numbers are the base; what the client has added since is estimated. Audio counts
 * by its length: a provider charges one token for each 100 ms that it hears and for each 50 ms that it says
 * (docs/design/realtime.md 4).
 */
import { attachmentTokens } from "#proxy/admit/estimate-cost";
import type { Amounts } from "#proxy/admit/ledger";
import { computeCost } from "#proxy/settle/price";
import { type TokenUsage, zeroUsage } from "#proxy/settle/usage";
import type { Fleet, Route } from "#proxy/snapshot/types.gen";

/** Input by kind, in tokens. */
interface InputTokens {
  readonly text: number;
  readonly audio: number;
  readonly image: number;
}

const heardTokensPerSecond = 10;
const saidTokensPerSecond = 20;
const frameTokens = 16;
const bytesPerToken = 3;
const nothing: InputTokens = { text: 0, audio: 0, image: 0 };

/** Bytes of one second: 24 kHz of 16 bits, or 8 kHz of 8 bits (G.711). */
export function audioBytesPerSecond(format: unknown): number {
  return typeof format === "string" && /g711|pcmu|pcma/i.test(format) ? 8_000 : 48_000;
}

/** Tokens of so much base64 text. */
export function audioTokens(base64Length: number, bytesPerSecond: number, isSaid: boolean): number {
  const seconds = (base64Length * 3) / 4 / bytesPerSecond;
  return Math.ceil(seconds * (isSaid ? saidTokensPerSecond : heardTokensPerSecond));
}

export class ConversationSize {
  /** By the upstream's numbers, after the last response. */
  #base = nothing;
  #textBytes = 0;
  #sessionBytes = 0;
  #audioLength = 0;
  #images = 0;
  /** Of the session's input. */
  bytesPerSecond = audioBytesPerSecond(undefined);

  /** @param length of base64 text */
  addAudio(length: number): void {
    this.#audioLength += length;
  }

  addText(bytes: number): void {
    this.#textBytes += bytes;
  }

  addImage(): void {
    this.#images += 1;
  }

  /** Instructions and tools: each update replaces those before it. */
  setSession(bytes: number): void {
    this.#sessionBytes = bytes;
  }

  /** Audio that was heard since the last call of this: what a transcription is made of. */
  takeAudioTokens(): number {
    const tokens = audioTokens(this.#audioLength, this.bytesPerSecond, false);
    this.#audioLength = 0;
    this.#base = { ...this.#base, audio: this.#base.audio + tokens };
    return tokens;
  }

  /** The next response reads what this one read, and what it said. */
  responded(usage: TokenUsage): void {
    this.#base = {
      text: usage.input + usage.cacheRead + usage.output,
      audio: usage.audioInput + usage.audioOutput,
      image: usage.imageInput,
    };
    this.#textBytes = 0;
    this.#sessionBytes = 0;
    this.#audioLength = 0;
    this.#images = 0;
  }

  /** What a response that begins now reads. @param isUpper one token for each byte: no tokenizer makes more */
  input(isUpper: boolean): TokenUsage {
    const bytes = this.#textBytes + this.#sessionBytes;
    const text = this.#base.text + (isUpper ? bytes : Math.ceil(bytes / bytesPerToken)) + frameTokens;
    const audioInput = this.#base.audio + audioTokens(this.#audioLength, this.bytesPerSecond, false);
    return { ...zeroUsage, input: text, audioInput, imageInput: this.#base.image + this.#images * attachmentTokens };
  }

  /**
   * The most that a response which begins now may need.
   * @param outputCap its own cap, or the session's
   */
  estimate(outputCap: number | undefined, { price, info }: Route, fleet: Fleet): Amounts {
    const reserve =
      outputCap ?? Math.min(info?.maxOutputTokens ?? Number.POSITIVE_INFINITY, fleet.defaultOutputReserve);
    const input = this.input(fleet.inputEstimate === "Upper");
    const costOf = (usage: TokenUsage): bigint => computeCost(usage, price, { requests: 1 }).costNanos;
    const spoken = costOf({ ...input, audioOutput: reserve });
    const written = costOf({ ...input, output: reserve });
    return {
      requests: 1n,
      inputTokens: BigInt(input.input + input.audioInput + input.imageInput),
      outputTokens: BigInt(reserve),
      costNanos: spoken > written ? spoken : written,
    };
  }

  /** The most that a transcription may need: it writes hardly more tokens than it hears. */
  estimateTranscription(audioInput: number, { price }: Route): Amounts {
    const usage = { ...zeroUsage, audioInput, output: audioInput };
    return {
      requests: 1n,
      inputTokens: BigInt(audioInput),
      outputTokens: BigInt(audioInput),
      costNanos: computeCost(usage, price, { requests: 1 }).costNanos,
    };
  }
}
