/** Reads the usage of the responses API into disjoint classes (docs/design/responses.md 4). */

import { count, Remainder } from "#proxy/formats/token-counts";
import { asList, isObject, member } from "#proxy/json/json-value";
import type { TokenUsage } from "#proxy/settle/usage";

/**
 * Usage of a response object. Input includes cached and written tokens, output includes reasoning; searches are
 * counted from the items that ran them, because the usage object does not know them.
 * @returns undefined when the response states none
 */
export function readUsage(response: unknown): TokenUsage | undefined {
  const usage = member(response, "usage");
  if (!isObject(usage) || !("input_tokens" in usage || "output_tokens" in usage)) return undefined;
  const inputDetails = usage["input_tokens_details"];
  const outputDetails = usage["output_tokens_details"];
  const input = new Remainder(count(usage["input_tokens"]));
  const cacheRead = input.subtract(member(inputDetails, "cached_tokens"));
  const cacheWrite = input.subtract(member(inputDetails, "cache_write_tokens"));
  const audioInput = input.subtract(member(inputDetails, "audio_tokens"));
  const imageInput = input.subtract(member(inputDetails, "image_tokens"));
  const output = new Remainder(count(usage["output_tokens"]));
  const reasoning = output.subtract(member(outputDetails, "reasoning_tokens"));
  const audioOutput = output.subtract(member(outputDetails, "audio_tokens"));
  const imageOutput = output.subtract(member(outputDetails, "image_tokens"));
  return {
    input: input.left,
    cacheRead,
    cacheWrite,
    cacheWrite1h: 0,
    output: output.left,
    reasoning,
    audioInput,
    audioOutput,
    imageInput,
    imageOutput,
    searches: asList(member(response, "output")).filter((item) => member(item, "type") === "web_search_call").length,
  };
}
