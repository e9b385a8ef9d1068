/** Lists the parameters of the responses API with their bounds (docs/design/interface.md 2.4 and 8). */
import {
  booleanRule,
  integerRule,
  kindRule,
  numberRule,
  type ParameterRule,
} from "#proxy/formats/body/parameter-rules";

export const responsesParameters: readonly ParameterRule[] = [
  kindRule("input", "string", "array", "object"),
  booleanRule("stream"),
  kindRule("stream_options", "object"),
  kindRule("instructions", "string", "array"),
  kindRule("previous_response_id", "string"),
  kindRule("conversation", "string", "object"),
  integerRule("max_output_tokens", 0),
  integerRule("max_tool_calls", 0),
  numberRule("temperature", 0, 2),
  numberRule("top_p", 0, 1),
  integerRule("top_logprobs", 0, 20),
  kindRule("reasoning", "object"),
  kindRule("text", "object"),
  kindRule("tools", "array", "object"),
  kindRule("tool_choice", "string", "object"),
  booleanRule("parallel_tool_calls"),
  kindRule("truncation", "string"),
  kindRule("include", "array"),
  booleanRule("store"),
  booleanRule("background"),
  kindRule("metadata", "object"),
  kindRule("user", "string", "object"),
  kindRule("safety_identifier", "string"),
];
