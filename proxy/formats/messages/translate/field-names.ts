/** Maps neutral fields to the spelling of messages clients, for errors and declared losses. */

import type { FieldNames } from "#proxy/neutral/losses/neutral-fields";
import { sharedFieldNames } from "#proxy/neutral/losses/shared-field-names";

export const fieldNames: FieldNames = {
  ...sharedFieldNames,
  stop: "stop_sequences",
  logprobs: "logprobs",
  outputCap: "max_tokens",
  reasoning: "thinking",
  outputFormat: "output_config.format",
  verbosity: "verbosity",
  user: "metadata.user_id",
  automaticCache: "cache_control",
  parallelTools: "tool_choice.disable_parallel_tool_use",
  toolSchema: "input_schema",
};
