/** How clients of generateContent spell neutral fields (`protocols/translation.md` section 3). */
import type { NeutralField } from "../translator.ts";

const names: Readonly<Record<NeutralField, string>> = {
  temperature: "generationConfig.temperature",
  topP: "generationConfig.topP",
  topK: "generationConfig.topK",
  seed: "generationConfig.seed",
  presencePenalty: "generationConfig.presencePenalty",
  frequencyPenalty: "generationConfig.frequencyPenalty",
  stop: "generationConfig.stopSequences",
  candidates: "generationConfig.candidateCount",
  logitBias: "logitBias",
  logprobs: "generationConfig.responseLogprobs",
  topLogprobs: "generationConfig.logprobs",
  outputCap: "generationConfig.maxOutputTokens",
  reasoning: "generationConfig.thinkingConfig",
  answerFormat: "generationConfig.responseMimeType",
  verbosity: "verbosity",
  modalities: "generationConfig.responseModalities",
  audioOutput: "generationConfig.speechConfig",
  user: "user",
  safetyIdentifier: "safety_identifier",
  metadata: "metadata",
  promptCacheKey: "promptCacheKey",
  promptCacheRetention: "promptCacheRetention",
  automaticCache: "cachedContent",
  cacheMarks: "cache_control",
  serviceTier: "serviceTier",
  store: "store",
  safetySettings: "safetySettings",
  tools: "tools",
  toolChoice: "toolConfig.functionCallingConfig",
  parallelTools: "parallelTools",
};

export function fieldName(field: NeutralField): string {
  return names[field];
}
