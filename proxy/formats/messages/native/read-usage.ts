/** Reads the usage of the messages API into disjoint classes (docs/design/messages.md 4). */

import { count, Remainder } from "#proxy/formats/token-counts";
import { isObject, type JsonObject, member } from "#proxy/json/json-value";
import type { TokenUsage } from "#proxy/settle/usage";

/**
 * Input excludes both cache numbers; the one-hour part of what was written is told apart where the reply does; output
 * includes thinking.
 * @returns undefined when the value is no usage object
 */
export function readUsage(usage: unknown): TokenUsage | undefined {
  if (!isObject(usage) || !("input_tokens" in usage || "output_tokens" in usage)) return undefined;
  const written = new Remainder(count(usage["cache_creation_input_tokens"]));
  const cacheWrite1h = written.subtract(member(usage["cache_creation"], "ephemeral_1h_input_tokens"));
  const output = new Remainder(count(usage["output_tokens"]));
  const reasoning = output.subtract(member(usage["output_tokens_details"], "thinking_tokens"));
  return {
    input: count(usage["input_tokens"]),
    cacheRead: count(usage["cache_read_input_tokens"]),
    cacheWrite: written.left,
    cacheWrite1h,
    output: output.left,
    reasoning,
    audioInput: 0,
    audioOutput: 0,
    imageInput: 0,
    imageOutput: 0,
    searches: count(member(usage["server_tool_use"], "web_search_requests")),
  };
}

/**
 * Adds a later usage object of a stream to what is known: its numbers are cumulative, so each replaces the earlier one;
 * null and absent say nothing, and an object without prompt tokens of its own does not take back those once reported
 * (pitfall 118).
 */
export function mergeUsage(known: JsonObject | undefined, later: unknown): JsonObject | undefined {
  if (!isObject(later)) return known;
  // Without a prototype, so that a member named __proto__ is a member and nothing inherited is ever read.
  const merged: Record<string, unknown> = Object.assign(Object.create(null), known);
  const restatesPrompt = count(later["input_tokens"]) > 0;
  for (const [name, value] of Object.entries(later)) {
    if (value === null || value === undefined) continue;
    if (value === 0 && !restatesPrompt && name !== "output_tokens") {
      if (count(merged[name]) > 0) continue;
    }
    merged[name] = value;
  }
  return merged;
}
