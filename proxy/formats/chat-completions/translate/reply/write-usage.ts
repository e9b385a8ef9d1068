/** Writes usage in this format's words (docs/design/translation.md 8.2): classes that contain each other. */
import type { JsonObject } from "#proxy/json/json-value";
import { inputTokens, outputTokens, type TokenUsage } from "#proxy/settle/usage";

export function writeUsage(usage: TokenUsage): JsonObject {
  const prompt = inputTokens(usage);
  const completion = outputTokens(usage);
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: {
      cached_tokens: usage.cacheRead,
      cache_write_tokens: usage.cacheWrite + usage.cacheWrite1h,
      ...positive("audio_tokens", usage.audioInput),
      ...positive("image_tokens", usage.imageInput),
    },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoning,
      ...positive("audio_tokens", usage.audioOutput),
      ...positive("image_tokens", usage.imageOutput),
    },
  };
}

function positive(name: string, tokens: number): JsonObject {
  return tokens > 0 ? { [name]: tokens } : {};
}
