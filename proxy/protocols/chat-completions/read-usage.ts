/** Usage of chat completions brought to disjoint classes (`protocols/openai-chat.md` section 5). */
import type { TokenUsage } from "../../settle/usage.ts";
import { isObject, member, memberAt } from "../json-value.ts";
import { count, Remainder } from "../token-counts.ts";

/**
 * Prompt tokens include cached, written and media tokens, completion tokens include reasoning; where the total says
 * otherwise (xAI counts reasoning apart), reasoning is added.
 * @returns undefined when the value is no usage object
 */
export function readUsage(usage: unknown): TokenUsage | undefined {
  if (!isObject(usage) || !("prompt_tokens" in usage || "completion_tokens" in usage)) return undefined;
  const prompt = usage["prompt_tokens_details"];
  const completion = usage["completion_tokens_details"];
  const input = new Remainder(count(usage["prompt_tokens"]));
  const cacheRead = input.take(member(prompt, "cached_tokens") ?? usage["prompt_cache_hit_tokens"]);
  const cacheWrite = input.take(member(prompt, "cache_write_tokens"));
  const audioInput = input.take(member(prompt, "audio_tokens"));
  const imageInput = input.take(member(prompt, "image_tokens"));
  const reasoningTokens = count(member(completion, "reasoning_tokens"));
  const produced = count(usage["completion_tokens"]);
  const isApart =
    reasoningTokens > 0 && count(usage["total_tokens"]) === count(usage["prompt_tokens"]) + produced + reasoningTokens;
  const output = new Remainder(isApart ? produced + reasoningTokens : produced);
  return {
    input: input.left,
    cacheRead,
    cacheWrite,
    cacheWrite1h: 0,
    reasoning: output.take(reasoningTokens),
    audioOutput: output.take(member(completion, "audio_tokens")),
    imageOutput: output.take(member(completion, "image_tokens")),
    output: output.left,
    audioInput,
    imageInput,
    searches: count(memberAt(usage, "server_tool_use_details", "web_search_requests")),
  };
}

/** Usage of a chunk or a body: its own, or Groq's older place for it. */
export function usageOf(value: unknown): TokenUsage | undefined {
  return readUsage(member(value, "usage")) ?? readUsage(memberAt(value, "x_groq", "usage"));
}
