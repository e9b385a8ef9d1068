/**
 * What is known of models behind chat completions, by provider, host and name: the one place of such knowledge in this
 * folder (`protocols/openai-chat.md` section 2, reasoning-model restrictions; section 8; `translation.md` sections 3
 * to 7).
 *
 * A model that no row knows gets the newest behaviour at OpenAI itself, and the least that compatible servers share
 * anywhere else.
 */
import type { Effort } from "../conversation.ts";
import { memoiseTraits } from "../memoise-traits.ts";
import { bareModelName, openAIAbilities } from "../openai-models.ts";

export interface ModelTraits {
  /** OpenAI itself or Azure: knows every member of the format's page. */
  readonly isOpenAI: boolean;
  readonly capMember: "max_completion_tokens" | "max_tokens";
  /** Efforts it knows, from least to most, `none` for off; empty when it does not reason at all. */
  readonly efforts: readonly (Effort | "none")[];
  /** Where the wish to think is written. */
  readonly reasoningMember: "reasoning_effort" | "reasoning" | "thinking";
  /** Sampling parameters and logprobs: refused by reasoning models, or taken only while they do not reason. */
  readonly sampling: "taken" | "refused" | "taken-without-reasoning";
  readonly takesStop: boolean;
  readonly takesTopK: boolean;
  readonly takesVerbosity: boolean;
  readonly takesSchema: boolean;
  readonly takesCustomTools: boolean;
  readonly takesSearchOptions: boolean;
  /** Anthropic's `cache_control` on parts. */
  readonly takesCacheControl: boolean;
  /** Refuses ids of tool calls that are not nine letters and digits (Mistral, wherever it runs). */
  readonly takesShortIds: boolean;
  /** Chat templates that fail on a system message behind the first one. */
  readonly systemFirst: boolean;
}

type Row = readonly [name: RegExp, traits: Partial<ModelTraits>];

const allEfforts = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
const classicEfforts = ["low", "medium", "high"] as const;

const openAI: ModelTraits = {
  isOpenAI: true,
  capMember: "max_completion_tokens",
  efforts: allEfforts,
  reasoningMember: "reasoning_effort",
  sampling: "taken",
  takesStop: true,
  takesTopK: false,
  takesVerbosity: true,
  takesSchema: true,
  takesCustomTools: true,
  takesSearchOptions: false,
  takesCacheControl: false,
  takesShortIds: false,
  systemFirst: false,
};

const reasons = { sampling: "refused", takesStop: false } as const;
const reasonsAtWill = { sampling: "taken-without-reasoning", takesStop: false } as const;
const speaksOnly = { efforts: [] } as const;

/** First match counts. */
const openAIModels: readonly Row[] = [
  [/-search(?:-|$)/, { ...speaksOnly, takesSearchOptions: true, sampling: "refused" }],
  [/^gpt-5(?:\.\d+)?-chat/, speaksOnly],
  [/^gpt-5-pro/, { ...reasons, efforts: ["high"] }],
  [/^gpt-5-codex/, { ...reasons, efforts: classicEfforts }],
  [/^gpt-5(?:-|$)/, { ...reasons, efforts: ["minimal", "low", "medium", "high"] }],
  [/^gpt-5\.1-codex-max/, { ...reasonsAtWill, efforts: ["none", "low", "medium", "high", "xhigh"] }],
  [/^gpt-5\.1/, { ...reasonsAtWill, efforts: ["none", "low", "medium", "high"] }],
  [/^gpt-5\.[2-4]/, { ...reasonsAtWill, efforts: ["none", "low", "medium", "high", "xhigh"] }],
  [/^gpt-(?:[5-9]|\d\d)/, { ...reasonsAtWill, efforts: ["none", "low", "medium", "high", "xhigh", "max"] }],
  [/^(?:codex|o\d)/, { ...reasons, efforts: classicEfforts }],
  [/^(?:gpt-3\.5|gpt-4-|gpt-4$)/, { ...speaksOnly, takesSchema: false }],
  [/^(?:gpt-4|chatgpt-4)/, speaksOnly],
];

const compatible: ModelTraits = {
  ...openAI,
  isOpenAI: false,
  capMember: "max_tokens",
  efforts: classicEfforts,
  takesVerbosity: false,
  takesCustomTools: false,
};

/** By host of the base address, where the vendor has one. */
const hosts: readonly Row[] = [
  [
    /(?:^|\.)openrouter\.ai$/,
    {
      reasoningMember: "reasoning",
      efforts: allEfforts,
      takesTopK: true,
      takesCacheControl: true,
      takesSearchOptions: true,
    },
  ],
  [/(?:^|\.)perplexity\.ai$/, { takesSearchOptions: true, takesTopK: true }],
  [/(?:^|\.)deepseek\.com$/, { reasoningMember: "thinking", takesSchema: false }],
  [/(?:^|\.)(?:z\.ai|bigmodel\.cn|moonshot\.(?:cn|ai))$/, { reasoningMember: "thinking" }],
  [/(?:^|\.)googleapis\.com$/, { efforts: ["none", "minimal", "low", "medium", "high"] }],
];

/** By model name, on any server. */
const compatibleModels: readonly Row[] = [
  [/^(?:mistral|ministral|magistral|codestral|devstral|pixtral|open-mi)/, { takesShortIds: true }],
  [/^(?:qwen|qwq)/, { systemFirst: true }],
];

/** @returns the traits of a model on a channel; the same object never changes */
export const traitsOf = memoiseTraits(({ channel, upstreamModel }): ModelTraits => {
  const { provider, baseURL } = channel;
  const name = bareModelName(upstreamModel);
  if (provider === "OpenAI" || provider === "AzureOpenAI") {
    return { ...openAI, ...openAIAbilities(name), ...traitsIn(openAIModels, name) };
  }
  return { ...compatible, ...traitsIn(hosts, hostOf(baseURL)), ...traitsIn(compatibleModels, name) };
});

function traitsIn(rows: readonly Row[], name: string): Partial<ModelTraits> {
  return rows.find(([pattern]) => pattern.test(name))?.[1] ?? {};
}

function hostOf(baseURL: string): string {
  return URL.canParse(baseURL) ? new URL(baseURL).hostname : "";
}
