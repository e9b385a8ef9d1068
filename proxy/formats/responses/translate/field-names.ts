/** Maps the neutral fields to the spelling of responses clients (docs/design/responses.md 2). */

import type { FieldNames } from "#proxy/neutral/losses/neutral-fields";
import { sharedFieldNames } from "#proxy/neutral/losses/shared-field-names";

export const fieldNames: FieldNames = {
  ...sharedFieldNames,
  stop: "stop",
  logprobs: "include",
  outputCap: "max_output_tokens",
  reasoning: "reasoning",
  outputFormat: "text.format",
  verbosity: "text.verbosity",
  user: "user",
  automaticCache: "cache_control",
  cacheMarks: "prompt_cache_breakpoint",
  parallelTools: "parallel_tool_calls",
  toolSchema: "parameters",
};
