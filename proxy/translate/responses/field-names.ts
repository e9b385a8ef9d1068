/** How a responses client spells the neutral fields (`protocols/openai-responses.md` section 2). */
import type { NeutralField } from "../translator.ts";

const names: Readonly<Record<NeutralField, string>> = {
  temperature: "temperature",
  topP: "top_p",
  topK: "top_k",
  seed: "seed",
  presencePenalty: "presence_penalty",
  frequencyPenalty: "frequency_penalty",
  stop: "stop",
  candidates: "n",
  logitBias: "logit_bias",
  logprobs: "include",
  topLogprobs: "top_logprobs",
  outputCap: "max_output_tokens",
  reasoning: "reasoning",
  answerFormat: "text.format",
  verbosity: "text.verbosity",
  modalities: "modalities",
  audioOutput: "audio",
  user: "user",
  safetyIdentifier: "safety_identifier",
  metadata: "metadata",
  promptCacheKey: "prompt_cache_key",
  promptCacheRetention: "prompt_cache_retention",
  automaticCache: "prompt_cache_options",
  cacheMarks: "cache_control",
  serviceTier: "service_tier",
  store: "store",
  safetySettings: "safety_settings",
  tools: "tools",
  toolChoice: "tool_choice",
  parallelTools: "parallel_tool_calls",
};

export function fieldName(field: NeutralField): string {
  return names[field];
}
