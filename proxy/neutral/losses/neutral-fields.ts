/** Names the neutral fields. Each format maps them to its own spelling, for errors and losses. */

/** Members of a conversation that not every format can say; named in losses by `ClientTranslator.fieldNames`, in this order. */
export const neutralFields = [
  "temperature",
  "topP",
  "topK",
  "seed",
  "presencePenalty",
  "frequencyPenalty",
  "stop",
  "candidates",
  "logitBias",
  "logprobs",
  "topLogprobs",
  "outputCap",
  "reasoning",
  "outputFormat",
  "verbosity",
  "modalities",
  "audioOutput",
  "user",
  "safetyIdentifier",
  "metadata",
  "promptCacheKey",
  "promptCacheRetention",
  "promptCacheOptions",
  "automaticCache",
  "cacheMarks",
  "serviceTier",
  "store",
  "mediaDetail",
  "safetySettings",
  "tools",
  "toolSchema",
  "toolChoice",
  "parallelTools",
] as const;

export type NeutralField = (typeof neutralFields)[number];

export type FieldNames = Readonly<Record<NeutralField, string>>;
