/**
 * Parameter tables of messages (INTERFACE.md 2.5 and 8): `temperature` and `top_p` 0 to 1, `max_tokens` required.
 * `max_tokens: 0` is legal: it warms the prompt cache.
 */
import type { UnsupportedFields } from "#proxy/formats/body/body-rules";
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

const notAnthropic = [
  "n",
  "seed",
  "stop",
  "logit_bias",
  "frequency_penalty",
  "presence_penalty",
  "response_format",
  "parallel_tool_calls",
  "stream_options",
  "store",
  "reasoning_effort",
  "safety_identifier",
];

/** Refused as unknown by the provider itself; compatible servers vary and get everything. */
export const unsupportedFields: UnsupportedFields = { Anthropic: notAnthropic };
