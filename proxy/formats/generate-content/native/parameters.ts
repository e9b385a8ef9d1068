/**
 * Lists the parameters of generateContent with their bounds (docs/design/interface.md 2.6 and 8), by lowerCamelCase
 * name.
 */
import {
  booleanRule,
  integerRule,
  kindRule,
  numberRule,
  type ParameterRule,
} from "#proxy/formats/body/parameter-rules";

/** `topK` may be written as a number with a fraction of zero; enums may be numbers (protobuf JSON). */
export const generationParameters: readonly ParameterRule[] = [
  numberRule("temperature", 0, 2),
  numberRule("topP", 0, 1),
  numberRule("topK", 0),
  integerRule("maxOutputTokens", 0),
  integerRule("candidateCount", 1, 128),
  kindRule("stopSequences", "array"),
  kindRule("responseMimeType", "string"),
  kindRule("responseSchema", "object"),
  numberRule("presencePenalty", -2, 2),
  numberRule("frequencyPenalty", -2, 2),
  integerRule("seed", -2_147_483_648),
  kindRule("thinkingConfig", "object"),
  kindRule("responseModalities", "array"),
  booleanRule("responseLogprobs"),
  integerRule("logprobs", 0, 20),
];

export const topLevelParameters: readonly ParameterRule[] = [
  kindRule("contents", "array", "string", "object"),
  kindRule("tools", "array", "object"),
  kindRule("metadata", "object"),
  kindRule("user", "string", "object"),
  booleanRule("store"),
];
