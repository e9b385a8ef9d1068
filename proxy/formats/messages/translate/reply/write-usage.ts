/**
 * Writes usage as messages clients read it (docs/design/translation.md 8.2): `input_tokens` leaves out both cache
 * numbers, output includes thinking. All members that clients read unguarded are always there (pitfalls 45 and 132).
 */
import type { JsonObject } from "#proxy/json/json-value";
import { outputTokens, type TokenUsage, zeroUsage } from "#proxy/settle/usage";

/**
 * @param usage undefined when the upstream told none, or not yet: then the estimate stands for the prompt
 * @param inputTokensEstimate prompt tokens as estimated before the call
 */
export function writeUsage(usage: TokenUsage | undefined, inputTokensEstimate: number): JsonObject {
  return membersOf(usage ?? { ...zeroUsage, input: inputTokensEstimate });
}

function membersOf(usage: TokenUsage): JsonObject {
  const { cacheWrite, cacheWrite1h, reasoning, searches } = usage;
  const members: Record<string, unknown> = {
    input_tokens: usage.input + usage.audioInput + usage.imageInput,
    cache_creation_input_tokens: cacheWrite + cacheWrite1h,
    cache_read_input_tokens: usage.cacheRead,
  };
  if (cacheWrite1h !== 0) {
    members["cache_creation"] = {
      ephemeral_5m_input_tokens: cacheWrite,
      ephemeral_1h_input_tokens: cacheWrite1h,
    };
  }
  members["output_tokens"] = outputTokens(usage);
  if (reasoning !== 0) members["output_tokens_details"] = { thinking_tokens: reasoning };
  if (searches !== 0) members["server_tool_use"] = { web_search_requests: searches, web_fetch_requests: 0 };
  return members;
}
