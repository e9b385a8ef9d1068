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
import { type MessageSize, nothingAdded } from "./message-size.ts";

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

/** How much had been added when a response began: what came later, it does not read. */
export interface SizeMark extends MessageSize {
  readonly sessionBytes: number;
}

/** What is estimated of a route. */
export type PricedRoute = Pick<Route, "price" | "info">;

/** The output tokens that are reserved where nothing caps them. */
export function usualOutput({ info }: PricedRoute, fleet: Fleet): number {
  return Math.min(info?.maxOutputTokens ?? Number.POSITIVE_INFINITY, fleet.defaultOutputReserve);
}

export class ConversationSize {
  /** By the upstream's numbers, after the last response. */
  #base = nothing;
  /** What that response had read. */
  #mark: SizeMark = { ...nothingAdded, sessionBytes: 0 };
  /** Since the session began. */
  #textBytes = 0;
  #audioLength = 0;
  #images = 0;
  /** Of instructions, tools and the like, by their name in the session. */
  readonly #sessionBytes = new Map<string, number>();
  /** Of the audio, what went into transcriptions. */
  #transcribedLength = 0;
  /** Of the session's input. */
  bytesPerSecond = audioBytesPerSecond(undefined);

  /** @param length of base64 text */
  addAudio(length: number): void {
    this.#audioLength += length;
  }

  add({ textBytes, audioLength, images }: MessageSize): void {
    this.#textBytes += textBytes;
    this.#audioLength += audioLength;
    this.#images += images;
  }

  /** An update replaces the members that it names, and no others. */
  updateSession(bytes: ReadonlyMap<string, number>): void {
    for (const [name, size] of bytes) this.#sessionBytes.set(name, size);
  }

  /** Audio that was heard since the last call of this: what a transcription is made of. */
  takeAudioTokens(): number {
    const length = this.#audioLength - this.#transcribedLength;
    this.#transcribedLength = this.#audioLength;
    return audioTokens(length, this.bytesPerSecond, false);
  }

  /** To be taken when a response begins. */
  mark(): SizeMark {
    const sessionBytes = [...this.#sessionBytes.values()].reduce((sum, size) => sum + size, 0);
    return { textBytes: this.#textBytes, audioLength: this.#audioLength, images: this.#images, sessionBytes };
  }

  /** The next response reads what this one read, what it said, and what was added since it began. */
  responded(usage: TokenUsage, mark: SizeMark): void {
    this.#base = {
      text: usage.input + usage.cacheRead + usage.output,
      audio: usage.audioInput + usage.audioOutput,
      image: usage.imageInput,
    };
    this.#mark = mark;
  }

  /**
   * What a response that begins now reads.
   * @param isUpper one token for each byte: no tokenizer makes more
   * @param own what it alone reads
   */
  input(isUpper: boolean, own: MessageSize = nothingAdded): TokenUsage {
    const now = this.mark();
    const since = this.#mark;
    const sessionBytes = Math.max(0, now.sessionBytes - since.sessionBytes);
    const bytes = now.textBytes - since.textBytes + sessionBytes + own.textBytes;
    const audioLength = now.audioLength - since.audioLength + own.audioLength;
    const images = now.images - since.images + own.images;
    return {
      ...zeroUsage,
      input: this.#base.text + (isUpper ? bytes : Math.ceil(bytes / bytesPerToken)) + frameTokens,
      audioInput: this.#base.audio + audioTokens(audioLength, this.bytesPerSecond, false),
      imageInput: this.#base.image + images * attachmentTokens,
    };
  }

  /**
   * The most that a response which begins now may need.
   * @param outputCap its own cap, or the session's
   * @param own what it alone reads
   */
  estimate(outputCap: number | undefined, route: PricedRoute, fleet: Fleet, own?: MessageSize): Amounts {
    const reserve = outputCap ?? usualOutput(route, fleet);
    const input = this.input(fleet.inputEstimate === "Upper", own);
    const costOf = (usage: TokenUsage): bigint => computeCost(usage, route.price, { requests: 1 }).costNanos;
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
