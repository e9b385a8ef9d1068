/**
 * Lists the parameters of messages with their bounds (docs/design/interface.md 2.5 and 8): `temperature` and `top_p` 0
 * to 1, `max_tokens` required. `max_tokens: 0` is legal: it warms the prompt cache.
 */
import {
  booleanRule,
  integerRule,
  kindRule,
  numberRule,
  type ParameterRule,
} from "#proxy/formats/body/parameter-rules";

export const messagesParameters: readonly ParameterRule[] = [
  integerRule("max_tokens", 0),
  kindRule("system", "string", "array"),
  numberRule("temperature", 0, 1),
  numberRule("top_p", 0, 1),
  integerRule("top_k", 0),
  kindRule("stop_sequences", "array"),
  booleanRule("stream"),
  kindRule("tools", "array"),
  kindRule("tool_choice", "object"),
  kindRule("thinking", "object"),
  kindRule("metadata", "object"),
  kindRule("user", "string", "object"),
];

export const thinkingParameters: readonly ParameterRule[] = [
  kindRule("type", "string"),
  integerRule("budget_tokens", 0),
];
