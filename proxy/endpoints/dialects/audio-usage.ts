/** Reads the usage that OpenAI-style audio endpoints report (openai.com API reference: audio). */
import { count, Remainder } from "#proxy/formats/token-counts";
import { isObject, type JsonObject, member, memberAt } from "#proxy/json/json-value";
import { audioMillisecondsOf } from "#proxy/settle/sound/audio-duration";
import { type TokenUsage, zeroUsage } from "#proxy/settle/usage";

/** Of speech: text goes in, sound comes out. Counts that are absent are 0. @returns undefined for what is no object */
export function speechUsage(usage: unknown): TokenUsage | undefined {
  if (!isObject(usage)) return undefined;
  const input = new Remainder(count(usage["input_tokens"]));
  const audioInput = input.subtract(memberAt(usage, "input_token_details", "audio_tokens"));
  return { ...zeroUsage, input: input.left, audioInput, audioOutput: count(usage["output_tokens"]) };
}

/**
 * Of a transcript: sound goes in, and the prompt's text; text comes out. vLLM and Mistral count in the words of chat.
 * @returns undefined where it counts no tokens
 */
export function transcriptUsage(usage: unknown): TokenUsage | undefined {
  if (!isObject(usage)) return undefined;
  if (usage["input_tokens"] === undefined && usage["prompt_tokens"] !== undefined) return usageInWordsOfChat(usage);
  if (usage["type"] !== "tokens" && usage["input_tokens"] === undefined) return undefined;
  const all = new Remainder(count(usage["input_tokens"]));
  const input = all.subtract(memberAt(usage, "input_token_details", "text_tokens"));
  return { ...zeroUsage, input, audioInput: all.left, output: count(usage["output_tokens"]) };
}

/** vLLM counts the sound among the prompt. Mistral, which may also tell its seconds, counts it in the total alone. */
function usageInWordsOfChat(usage: JsonObject): TokenUsage {
  const [prompt, output] = [count(usage["prompt_tokens"]), count(usage["completion_tokens"])];
  const beside = Math.max(0, count(usage["total_tokens"]) - prompt - output);
  const isBeside = beside > 0 || typeof usage["prompt_audio_seconds"] === "number";
  return { ...zeroUsage, ...(isBeside ? { input: prompt, audioInput: beside } : { audioInput: prompt }), output };
}

/** Length of the sound that was heard, in milliseconds: of `usage` where it is by duration, else of the reply itself. */
export function heardMilliseconds(reply: unknown): number | undefined {
  const usage = member(reply, "usage");
  const seconds = member(usage, "seconds") ?? member(usage, "prompt_audio_seconds") ?? member(reply, "duration");
  // Some servers write the length of a verbose transcript as text.
  const heard = audioMillisecondsOf(typeof seconds === "string" && seconds !== "" ? Number(seconds) : seconds);
  // No sound takes no time: a server that says so has not measured it.
  return heard === 0 ? undefined : heard;
}
