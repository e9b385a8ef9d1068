/** Recognises the names that most bodies hold at their top by their bytes, so that none of them is decoded. */
import { compileWatch } from "./json-watch.ts";

/**
 * Members that choose model, length, price or shape. Parsers that ignore case would read `Model` as `model`, and the
 * authoriser would have seen another call than the upstream.
 */
export const routingNames: readonly string[] = [
  "model",
  "messages",
  "input",
  "prompt",
  "contents",
  "stream",
  "stream_options",
  "n",
  "max_tokens",
  "max_completion_tokens",
  "max_output_tokens",
  "maxOutputTokens",
  "generationConfig",
  "generation_config",
  "candidateCount",
  "store",
  "tools",
  "background",
  "previous_response_id",
];

/** None of them is another spelling of one above. */
const otherNames: readonly string[] = [
  "frequency_penalty",
  "instructions",
  "metadata",
  "parallel_tool_calls",
  "presence_penalty",
  "reasoning",
  "reasoning_effort",
  "response_format",
  "seed",
  "stop",
  "stop_sequences",
  "system",
  "temperature",
  "text",
  "thinking",
  "tool_choice",
  "top_k",
  "top_p",
  "user",
];

export const usualNames = compileWatch([...routingNames, ...otherNames]);
