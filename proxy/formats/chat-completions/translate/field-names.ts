/** Maps the neutral fields to the spelling of chat completions clients, for errors and declared losses. */

import type { FieldNames } from "#proxy/neutral/losses/neutral-fields";
import { sharedFieldNames } from "#proxy/neutral/losses/shared-field-names";

export const fieldNames: FieldNames = {
  ...sharedFieldNames,
  mediaDetail: "image_url.detail",
  stop: "stop",
  logprobs: "logprobs",
  outputCap: "max_completion_tokens",
  reasoning: "reasoning_effort",
  outputFormat: "response_format",
  verbosity: "verbosity",
  user: "user",
  automaticCache: "cache_control",
  parallelTools: "parallel_tool_calls",
  toolSchema: "parameters",
};
