/**
 * Lists the parameters of chat completions with their bounds (docs/design/interface.md 2.1 to 2.3 and 8).
 *
 * These are hard everywhere: `temperature` 0 to 2, `top_p` 0 to 1, penalties -2 to 2, `top_logprobs` 0 to 20, `n` 1 to
 * 128, caps non-negative integers. `top_k` has no rule: some servers accept -1 for "off".
 */
import {
  booleanRule,
  integerRule,
  kindRule,
  numberRule,
  type ParameterRule,
} from "#proxy/formats/body/parameter-rules";

export const chatParameters: readonly ParameterRule[] = [
  booleanRule("stream"),
  kindRule("stream_options", "object"),
  numberRule("temperature", 0, 2),
  numberRule("top_p", 0, 1),
  numberRule("top_k"),
  integerRule("max_tokens", 0),
  integerRule("max_completion_tokens", 0),
  integerRule("n", 1, 128),
  numberRule("seed"),
  kindRule("stop", "string", "array"),
  numberRule("frequency_penalty", -2, 2),
  numberRule("presence_penalty", -2, 2),
  booleanRule("logprobs"),
  integerRule("top_logprobs", 0, 20),
  kindRule("logit_bias", "object"),
  kindRule("response_format", "object"),
  kindRule("tools", "array", "object"),
  kindRule("tool_choice", "string", "object"),
  booleanRule("parallel_tool_calls"),
  kindRule("modalities", "array"),
  kindRule("audio", "object"),
  kindRule("metadata", "object"),
  kindRule("user", "string", "object"),
  booleanRule("store"),
  kindRule("safety_identifier", "string"),
];

export const streamOptionParameters: readonly ParameterRule[] = [
  booleanRule("include_usage"),
  booleanRule("include_obfuscation"),
];
