/** How a messages client spells neutral fields, for errors and declared losses. */
import type { NeutralField } from "../translator.ts";

const names: Readonly<Record<NeutralField, string>> = {
  temperature: "temperature",
  topP: "top_p",
  topK: "top_k",
  seed: "seed",
  presencePenalty: "presence_penalty",
  frequencyPenalty: "frequency_penalty",
  stop: "stop_sequences",
  candidates: "n",
  logitBias: "logit_bias",
  logprobs: "logprobs",
  topLogprobs: "top_logprobs",
  outputCap: "max_tokens",
  reasoning: "thinking",
  answerFormat: "output_config.format",
  verbosity: "verbosity",
  modalities: "modalities",
  audioOutput: "audio",
  user: "metadata.user_id",
  safetyIdentifier: "safety_identifier",
  metadata: "metadata",
  promptCacheKey: "prompt_cache_key",
  promptCacheRetention: "prompt_cache_retention",
  automaticCache: "cache_control",
  cacheMarks: "cache_control",
  serviceTier: "service_tier",
  store: "store",
  safetySettings: "safety_settings",
  tools: "tools",
  toolChoice: "tool_choice",
  parallelTools: "tool_choice.disable_parallel_tool_use",
};

export function fieldName(field: NeutralField): string {
  return names[field];
}
