/**
 * Knows what models and servers behind chat completions accept, by provider, host and name
 * (docs/design/chat-completions.md 2.2 and 8; docs/design/translation.md 3 to 7).
 *
 * To add a server, put a row into `hosts`; a family of models that behaves alike on every server is a row of
 * `compatibleModels`; OpenAI's own models are in `openai-models.ts`. The first match counts, and a row states what
 * differs. A model that matches no row gets the newest behaviour at OpenAI itself, and the least that compatible
 * servers share anywhere else.
 */

import type { Effort } from "#proxy/neutral/conversation";
import { providerOf } from "#proxy/providers/providers";
import { memoiseTraits } from "./memoise-traits.ts";
import { bareModelName, type OpenAIModel, openAIModel, unknownOpenAIModel, withStated } from "./openai-models.ts";
import { knownName, statedTraits } from "./stated-traits.ts";

export interface ChatTraits extends OpenAIModel {
  /** OpenAI itself or Azure: knows every member of the format's page. */
  readonly isOpenAI: boolean;
  /** Checks ids of calls and schemas of tools as OpenAI does. */
  readonly checksLikeOpenAI: boolean;
  readonly capMember: "max_completion_tokens" | "max_tokens";
  /** Where the reasoning options are written. */
  readonly reasoningMember: "reasoning_effort" | "reasoning" | "thinking";
  readonly takesTopK: boolean;
  /** Anthropic's `cache_control` on parts. */
  readonly takesCacheControl: boolean;
  /** Whether a call of a tool may be forced. */
  readonly takesForcedTools: boolean;
  /** Refuses ids of tool calls that are not nine letters and digits (Mistral, wherever it runs). */
  readonly takesShortIds: boolean;
  /** Chat templates that fail on a system message behind the first one. */
  readonly systemFirst: boolean;
}

type Row = readonly [name: RegExp, traits: Partial<ChatTraits>];

const allEfforts = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
const classicEfforts: readonly Effort[] = ["low", "medium", "high"];

const openAI: Omit<ChatTraits, keyof OpenAIModel> = {
  isOpenAI: true,
  checksLikeOpenAI: true,
  capMember: "max_completion_tokens",
  reasoningMember: "reasoning_effort",
  takesTopK: false,
  takesCacheControl: false,
  takesForcedTools: true,
  takesShortIds: false,
  systemFirst: false,
};

const compatible: ChatTraits = {
  ...openAI,
  ...unknownOpenAIModel,
  isOpenAI: false,
  checksLikeOpenAI: false,
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
export const chatTraitsOf = memoiseTraits((target): ChatTraits => {
  const { channel } = target;
  const stated = statedTraits(target);
  const name = knownName(target);
  const known = openAIModel(name);
  const traits: ChatTraits =
    providerOf(channel).vendor === "OpenAI"
      ? { ...openAI, ...(known ?? { ...unknownOpenAIModel, efforts: allEfforts }) }
      : {
          ...compatible,
          ...traitsIn(hosts, hostOf(channel.baseURL)),
          ...traitsIn(compatibleModels, bareModelName(name)),
          // A cap holds wherever the model runs; for the rest relays have ways of their own, unless they say otherwise.
          ...(known === undefined
            ? {}
            : stated.like === undefined
              ? { outputTokensMax: known.outputTokensMax }
              : asOpenAI(known)),
        };
  const takesForcedTools =
    stated.forcedTools === undefined ? traits.takesForcedTools : stated.forcedTools === "Accepted";
  return { ...withStated(traits, stated), takesForcedTools };
});

/** A server that says of a model that it is one of OpenAI's. */
function asOpenAI(known: OpenAIModel): Partial<ChatTraits> {
  return { ...known, checksLikeOpenAI: true, capMember: "max_completion_tokens" };
}

function traitsIn(rows: readonly Row[], name: string): Partial<ChatTraits> {
  return rows.find(([pattern]) => pattern.test(name))?.[1] ?? {};
}

function hostOf(baseURL: string): string {
  return URL.canParse(baseURL) ? new URL(baseURL).hostname : "";
}
