/** Reads the usage of generateContent into disjoint classes (docs/design/generate-content.md 4). */

import { count, Remainder } from "#proxy/formats/token-counts";
import { asList, isObject, type JsonObject, member } from "#proxy/json/json-value";
import type { TokenUsage } from "#proxy/settle/usage";

/**
 * Prompt tokens include cached ones and not those of tool use; candidates exclude thoughts. Media are told apart by
 * the modality details.
 * @param searches as the reply's grounding metadata tells them
 * @returns undefined when the value holds no count (Vertex sends frames with a traffic type alone)
 */
export function readUsage(usage: unknown, searches = 0): TokenUsage | undefined {
  if (!isObject(usage) || !countNames.some((name) => name in usage)) return undefined;
  const input = new Remainder(count(usage["promptTokenCount"]) + count(usage["toolUsePromptTokenCount"]));
  const cacheRead = input.subtract(usage["cachedContentTokenCount"]);
  const audioInput = input.subtract(uncached(usage, "AUDIO"));
  const imageInput = input.subtract(uncached(usage, "IMAGE"));
  const output = new Remainder(count(usage["candidatesTokenCount"]));
  const audioOutput = output.subtract(ofModality(usage["candidatesTokensDetails"], "AUDIO"));
  const imageOutput = output.subtract(ofModality(usage["candidatesTokensDetails"], "IMAGE"));
  return {
    input: input.left,
    cacheRead,
    cacheWrite: 0,
    cacheWrite1h: 0,
    output: output.left,
    reasoning: count(usage["thoughtsTokenCount"]),
    audioInput,
    audioOutput,
    imageInput,
    imageOutput,
    searches,
  };
}

const countNames = ["promptTokenCount", "candidatesTokenCount", "totalTokenCount", "thoughtsTokenCount"];

function uncached(usage: JsonObject, modality: string): number {
  const all =
    ofModality(usage["promptTokensDetails"], modality) + ofModality(usage["toolUsePromptTokensDetails"], modality);
  return Math.max(0, all - ofModality(usage["cacheTokensDetails"], modality));
}

function ofModality(details: unknown, modality: string): number {
  let tokens = 0;
  for (const detail of asList(details)) {
    if (member(detail, "modality") === modality) tokens += count(member(detail, "tokenCount"));
  }
  return tokens;
}

/** Frames are cumulative: the last value of each field counts. */
export function mergeUsage(known: JsonObject | undefined, later: unknown): JsonObject | undefined {
  if (!isObject(later)) return known;
  // Without a prototype, so that a member named __proto__ is a member and nothing inherited is ever read.
  const merged: Record<string, unknown> = Object.assign(Object.create(null), known);
  for (const [name, value] of Object.entries(later)) if (value !== null && value !== undefined) merged[name] = value;
  return merged;
}
