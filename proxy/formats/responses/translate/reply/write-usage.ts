/** Writes usage in the responses format: whole counts that contain their details (docs/design/translation.md 8.2). */
import type { JsonObject } from "#proxy/json/json-value";
import { inputTokens, outputTokens, type TokenUsage, zeroUsage } from "#proxy/settle/usage";

/** Strict clients need both details, so that unknown usage is zeros and never absent. */
export function writeUsage(usage: TokenUsage = zeroUsage): JsonObject {
  const input = inputTokens(usage);
  const output = outputTokens(usage);
  return {
    input_tokens: input,
    input_tokens_details: {
      cached_tokens: usage.cacheRead,
      cache_write_tokens: usage.cacheWrite + usage.cacheWrite1h,
    },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: input + output,
  };
}
