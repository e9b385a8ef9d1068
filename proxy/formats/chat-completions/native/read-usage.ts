/**
 * Reads the usage of chat completions into disjoint classes (docs/design/chat-completions.md 5), wherever a vendor of
 * the format puts it.
 *
 * Beside the format's own places: `cached_tokens` at the top and `choices[0].usage` (Moonshot, "Streaming" and "Context
 * caching"), `prompt_cache_hit_tokens` and `prompt_cache_miss_tokens` (DeepSeek, "Context caching"),
 * `cache_creation_input_tokens` and `cache_creation` in the details (Alibaba Model Studio, "Context cache"),
 * Anthropic's names at the top (LiteLLM), `reasoning_tokens` and `num_search_queries` at the top (Perplexity, "Sonar
 * deep research"), `x_groq.usage`, and the names of the responses API.
 */

import { count, firstCount, Remainder } from "#proxy/formats/token-counts";
import { asList, isObject, type JsonObject, member, memberAt } from "#proxy/json/json-value";
import { inputTokens, outputTokens, type TokenUsage } from "#proxy/settle/usage";

const countNames = ["prompt_tokens", "completion_tokens", "input_tokens", "output_tokens"];

/**
 * Prompt tokens include cached, written and media tokens, completion tokens include reasoning; where the total says
 * otherwise (xAI counts reasoning apart), reasoning is added. Of places that disagree the first one that tells something
 * counts, and no part exceeds its whole.
 * @returns undefined when the value is no usage object
 */
export function readUsage(usage: unknown): TokenUsage | undefined {
  if (!isObject(usage) || !countNames.some((name) => name in usage)) return undefined;
  const prompt = member(usage, "prompt_tokens_details") ?? member(usage, "input_tokens_details");
  const completion = member(usage, "completion_tokens_details") ?? member(usage, "output_tokens_details");
  const cached = cachedTokens(usage, prompt);
  const writtenByTime = cacheCreation(usage, prompt);
  const written = Math.max(writtenTokens(usage, prompt), writtenByTime.for5m + writtenByTime.for1h);
  const input = new Remainder(promptTokens(usage, prompt, cached, written));
  const cacheRead = input.subtract(cached);
  const writes = new Remainder(input.subtract(written));
  const cacheWrite1h = writes.subtract(writtenByTime.for1h);
  const audioInput = input.subtract(member(prompt, "audio_tokens"));
  const imageInput = input.subtract(member(prompt, "image_tokens"));
  const { reasoningTokens, produced } = completionTokens(usage, completion);
  const output = new Remainder(produced);
  return {
    input: input.left,
    cacheRead,
    cacheWrite: writes.left,
    cacheWrite1h,
    reasoning: output.subtract(reasoningTokens),
    audioOutput: output.subtract(member(completion, "audio_tokens")),
    imageOutput: output.subtract(member(completion, "image_tokens")),
    output: output.left,
    audioInput,
    imageInput,
    searches: firstCount(
      memberAt(usage, "server_tool_use_details", "web_search_requests"),
      usage["num_search_queries"],
    ),
  };
}

/** Usage of a chunk or a body: its own, or the older places of Groq and Moonshot for it. */
export function usageOf(value: unknown): TokenUsage | undefined {
  const own = readUsage(member(value, "usage"));
  if (own !== undefined && tellsAnything(own)) return own;
  const places = [memberAt(value, "x_groq", "usage")];
  for (const choice of asList(member(value, "choices"))) places.push(member(choice, "usage"));
  let empty = own;
  for (const place of places) {
    const usage = readUsage(place);
    if (usage !== undefined && tellsAnything(usage)) return usage;
    empty ??= usage;
  }
  return empty;
}

/** Usage in several chunks is cumulative: the last one counts, unless it says nothing where an earlier one did. */
export function laterUsage(known: TokenUsage | undefined, later: TokenUsage | undefined): TokenUsage | undefined {
  if (later === undefined) return known;
  return known === undefined || tellsAnything(later) ? later : known;
}

function tellsAnything(usage: TokenUsage): boolean {
  return inputTokens(usage) + outputTokens(usage) + usage.searches > 0;
}

function cachedTokens(usage: JsonObject, prompt: unknown): number {
  return firstCount(
    member(prompt, "cached_tokens"),
    usage["prompt_cache_hit_tokens"],
    usage["cached_tokens"],
    usage["cache_read_input_tokens"],
    member(prompt, "cache_read_input_tokens"),
    member(prompt, "prompt_cache_hit_tokens"),
  );
}

/** What was written for an hour is among it. */
function writtenTokens(usage: JsonObject, prompt: unknown): number {
  return firstCount(
    member(prompt, "cache_write_tokens"),
    member(prompt, "cache_creation_input_tokens"),
    member(prompt, "cache_creation_tokens"),
    usage["cache_creation_input_tokens"],
  );
}

const noCacheCreation = { for5m: 0, for1h: 0 };

/** Written tokens by how long they are kept, from the details or from the top. */
function cacheCreation(usage: JsonObject, prompt: unknown): { readonly for5m: number; readonly for1h: number } {
  const details = member(prompt, "cache_creation") ?? member(prompt, "cache_creation_token_details");
  const atTop = member(usage, "cache_creation");
  if (details === undefined && atTop === undefined) return noCacheCreation;
  const told = (name: string): number => firstCount(member(details, name), member(atTop, name));
  return { for5m: told("ephemeral_5m_input_tokens"), for1h: told("ephemeral_1h_input_tokens") };
}

function promptTokens(usage: JsonObject, prompt: unknown, cached: number, written: number): number {
  const told = count(usage["prompt_tokens"]);
  if (told > 0) return told;
  const input = count(usage["input_tokens"]);
  // Anthropic's names at the top, and its meaning: both cache numbers stand beside the input.
  const isApart = "cache_read_input_tokens" in usage || "cache_creation_input_tokens" in usage;
  if (input > 0) return isApart && prompt === undefined ? input + cached + written : input;
  return count(usage["prompt_cache_hit_tokens"]) + count(usage["prompt_cache_miss_tokens"]);
}

/** `produced` with reasoning in it, whether the server counts it so or apart. */
function completionTokens(usage: JsonObject, completion: unknown): { reasoningTokens: number; produced: number } {
  const reasoningTokens = firstCount(member(completion, "reasoning_tokens"), usage["reasoning_tokens"]);
  const produced = firstCount(usage["completion_tokens"], usage["output_tokens"]);
  if (reasoningTokens === 0) return { reasoningTokens, produced };
  const prompt = firstCount(usage["prompt_tokens"], usage["input_tokens"]);
  const isAddedByTotal = count(usage["total_tokens"]) === prompt + produced + reasoningTokens;
  // Perplexity's research models count, and bill, reasoning beside the completion, and no total says so.
  const isBeside = "num_search_queries" in usage && count(usage["reasoning_tokens"]) > produced;
  return { reasoningTokens, produced: isAddedByTotal || isBeside ? produced + reasoningTokens : produced };
}
