/**
 * Names the fields that chat completions, responses and messages spell alike, for errors and declared losses. A field
 * that one of them lacks has the name that the others give it.
 */
import type { FieldNames } from "./neutral-fields.ts";

export const sharedFieldNames = {
  temperature: "temperature",
  topP: "top_p",
  topK: "top_k",
  seed: "seed",
  presencePenalty: "presence_penalty",
  frequencyPenalty: "frequency_penalty",
  candidates: "n",
  logitBias: "logit_bias",
  topLogprobs: "top_logprobs",
  modalities: "modalities",
  audioOutput: "audio",
  safetyIdentifier: "safety_identifier",
  metadata: "metadata",
  promptCacheKey: "prompt_cache_key",
  promptCacheRetention: "prompt_cache_retention",
  promptCacheOptions: "prompt_cache_options",
  cacheMarks: "cache_control",
  mediaDetail: "detail",
  serviceTier: "service_tier",
  store: "store",
  safetySettings: "safety_settings",
  tools: "tools",
  toolChoice: "tool_choice",
} as const satisfies Partial<FieldNames>;
