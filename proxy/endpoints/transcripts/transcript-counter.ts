/**
 * Counts what a transcript used: the tokens or the seconds that its upstream reports, else by the length of the recording
 * (docs/design/audio.md 5).
 */
import { estimateTextTokens } from "#proxy/admit/estimate-cost";
import type { UnitsNeeded } from "#proxy/admit/estimate-units";
import type { SettlementContext } from "#proxy/dispatch/reservations/settle-call";
import type { MeasuredUnits, UnitCounter, UsedUnits } from "#proxy/dispatch/reservations/settle-units";
import type { ReplyReading, StreamFilter } from "#proxy/formats/format";
import type { ChargedUnits } from "#proxy/settle/price";
import { type TokenUsage, zeroUsage } from "#proxy/settle/usage";
import type { Fleet, Route } from "#proxy/snapshot/types.gen";
import type { TranscriptCall } from "./read-transcript.ts";

/** Audio tokens of a second of recording (openai.com: one for each 100 ms). */
const heardPerSecond = 10;
/** Tokens of text for a second of speech, of usual and of hasty speakers. */
const writtenPerSecond = 4;
const writtenPerSecondMost = 10;
/** A file whose length nobody tells may be denser than it looks: telephones record with 16 kbit/s. */
const unmeasuredFactor = 4;

/** What to reserve. Only minutes are worth a look into the file: where tokens are charged, its size bounds them. */
export async function transcriptNeeds(
  { recording, promptBytes }: TranscriptCall,
  price: Route["price"],
  fleet: Fleet,
): Promise<UnitsNeeded> {
  const { milliseconds, isMeasured } = price?.audioMinute === undefined ? recording.bySize : await recording.length();
  const audioMilliseconds = isMeasured ? milliseconds : milliseconds * unmeasuredFactor;
  const usage = {
    input: estimateTextTokens(promptBytes, promptBytes, fleet),
    audioInput: perSecond(audioMilliseconds, heardPerSecond),
    output: perSecond(audioMilliseconds, writtenPerSecondMost),
  };
  return { usage, audioMilliseconds };
}

export class TranscriptCounter implements UnitCounter {
  readonly parts = 1;
  readonly #context: SettlementContext<TranscriptCall>;
  /** Tokens that nobody reports are not charged beside minutes: both would be for the same recording. */
  readonly #isByMinute: boolean;

  constructor(context: SettlementContext<TranscriptCall>) {
    this.#context = context;
    this.#isByMinute = context.route.price?.audioMinute !== undefined;
  }

  measure({ usage, units }: { readonly usage: TokenUsage | undefined; readonly units?: ChargedUnits | undefined }) {
    if (units?.audioMilliseconds !== undefined || (usage !== undefined && !this.#isByMinute)) return undefined;
    return this.#measure();
  }

  async #measure(): Promise<MeasuredUnits> {
    const { milliseconds } = await this.#context.call.recording.length();
    return { units: { audioMilliseconds: milliseconds }, isEstimated: true };
  }

  async tokens(): Promise<TokenUsage> {
    if (this.#isByMinute) return zeroUsage;
    const { milliseconds } = await this.#context.call.recording.length();
    return { ...(await this.#heardTokens()), output: perSecond(milliseconds, writtenPerSecond) };
  }

  async output(reply: StreamFilter | ReplyReading): Promise<TokenUsage> {
    return { ...zeroUsage, output: await this.#writtenTokens(reply) };
  }

  async #heardTokens(): Promise<TokenUsage> {
    if (this.#isByMinute) return zeroUsage;
    const { call } = this.#context;
    const { milliseconds } = await call.recording.length();
    return {
      ...zeroUsage,
      input: Math.ceil(call.promptBytes / 4),
      audioInput: perSecond(milliseconds, heardPerSecond),
    };
  }

  async #writtenTokens(reply: StreamFilter | ReplyReading | undefined): Promise<number> {
    const text = this.#isByMinute ? "" : (reply?.produced().text ?? "");
    return text === "" ? 0 : await this.#context.services.estimateTokens(text);
  }

  /** The upstream has heard all of it, and written down what came. */
  async partial(filter: StreamFilter | undefined): Promise<UsedUnits> {
    const { milliseconds } = await this.#context.call.recording.length();
    const usage = { ...(await this.#heardTokens()), output: await this.#writtenTokens(filter) };
    return { usage, units: { audioMilliseconds: milliseconds } };
  }
}

function perSecond(milliseconds: number, each: number): number {
  return Math.ceil((milliseconds * each) / 1_000);
}
