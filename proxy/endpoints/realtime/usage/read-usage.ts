/**
 * Reads the usage that a realtime upstream reports, in disjoint classes (PURE). Sources: `response.done` and
 * `conversation.item.input_audio_transcription.completed` of the provider's API reference (docs/design/realtime.md 4).
 */
import { count, Remainder } from "#proxy/formats/token-counts";
import { isObject, memberAt } from "#proxy/json/json-value";
import { type TokenUsage, zeroUsage } from "#proxy/settle/usage";

/** What a transcription took: tokens, or seconds of audio where the model is priced by time. */
export interface TranscriptionUsage {
  readonly tokens: TokenUsage;
  readonly seconds: number;
}

/** @param usage of `response.done`; undefined where there is none */
export function readResponseUsage(usage: unknown): TokenUsage | undefined {
  if (!isObject(usage) || (usage["input_tokens"] === undefined && usage["output_tokens"] === undefined))
    return undefined;
  const details = usage["input_token_details"];
  const cachedDetails = memberAt(details, "cached_tokens_details");
  const whole = new Remainder(count(usage["input_tokens"]));
  const cacheRead = whole.subtract(memberAt(details, "cached_tokens"));
  // The cached ones are among those of each kind.
  const uncached = (name: string): number => count(memberAt(details, name)) - count(memberAt(cachedDetails, name));
  const audioInput = whole.subtract(uncached("audio_tokens"));
  const imageInput = whole.subtract(uncached("image_tokens"));
  const produced = new Remainder(count(usage["output_tokens"]));
  const audioOutput = produced.subtract(memberAt(usage["output_token_details"], "audio_tokens"));
  return { ...zeroUsage, input: whole.left, cacheRead, audioInput, imageInput, output: produced.left, audioOutput };
}

/** @param usage of a completed transcription; undefined where there is none */
export function readTranscriptionUsage(usage: unknown): TranscriptionUsage | undefined {
  if (!isObject(usage)) return undefined;
  const { seconds } = usage;
  if (usage["type"] === "duration") {
    return {
      tokens: zeroUsage,
      seconds: typeof seconds === "number" && seconds > 0 ? Math.min(seconds, secondsMax) : 0,
    };
  }
  const whole = new Remainder(count(usage["input_tokens"]));
  const audioInput = whole.subtract(memberAt(usage["input_token_details"], "audio_tokens"));
  const output = new Remainder(count(usage["output_tokens"])).left;
  return { tokens: { ...zeroUsage, input: whole.left, audioInput, output }, seconds: 0 };
}

/** Nobody speaks longer in one turn. */
const secondsMax = 24 * 60 * 60;
