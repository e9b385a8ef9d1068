/**
 * Knows what a model behind the responses API accepts (docs/design/chat-completions.md 2.2;
 * docs/design/translation.md 6.1). The models are in `openai-models.ts`: a new one is a row there.
 *
 * Unknown models of the vendor itself behave as its newest; unknown models of compatible servers get nothing that a
 * plain server might refuse.
 */

import type { Effort } from "#proxy/neutral/conversation";
import { providerOf } from "#proxy/providers/providers";
import { memoiseTraits } from "./memoise-traits.ts";
import { type OpenAIModel, openAIModel, unknownOpenAIModel, withStated } from "./openai-models.ts";
import { knownName, statedTraits } from "./stated-traits.ts";

export interface ResponsesTraits extends OpenAIModel {
  /** Takes `reasoning` and gives `encrypted_content`. */
  readonly thinks: boolean;
  /** Smallest output cap that is accepted. */
  readonly outputCapMin: number;
  /** OpenAI itself or Azure. */
  readonly isOpenAI: boolean;
  /** Checks ids of calls and schemas of tools as OpenAI does. */
  readonly checksLikeOpenAI: boolean;
  /** Whether a call of a tool may be forced. */
  readonly takesForcedTools: boolean;
}

/** What a compatible server is trusted with: the words that all of them know. */
const compatible: OpenAIModel = { ...unknownOpenAIModel, efforts: ["none", "low", "medium", "high"] };

/** OpenAI refuses smaller caps (docs/design/translation.md 3). */
const vendorOutputCapMin = 16;

/** Worked out once for a model on a channel. */
export const responsesTraitsOf = memoiseTraits((target): ResponsesTraits => {
  const isOpenAI = providerOf(target.channel).vendor === "OpenAI";
  const stated = statedTraits(target);
  const known = openAIModel(knownName(target));
  const model = withStated(known ?? (isOpenAI ? unknownOpenAIModel : compatible), stated);
  return {
    ...model,
    thinks: model.efforts.length > 0,
    takesCustomTools: isOpenAI && model.takesCustomTools,
    outputCapMin: isOpenAI ? vendorOutputCapMin : 1,
    isOpenAI,
    checksLikeOpenAI: isOpenAI || (stated.like !== undefined && known !== undefined),
    takesForcedTools: stated.forcedTools !== "Refused",
  };
});

const strength: readonly (Effort | "none")[] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/** The effort that the model knows nearest to the wanted one: the next stronger of the weak ones, else the strongest. */
export function responsesEffort(wanted: Effort, traits: ResponsesTraits): Effort | undefined {
  const thinking = traits.efforts.filter((effort) => effort !== "none");
  const rank = strength.indexOf(wanted);
  return thinking.find((effort) => strength.indexOf(effort) >= rank) ?? thinking.at(-1);
}

/** How to ask for no thinking: `none`, else the weakest effort (docs/design/translation.md 6.1). */
export function weakestEffort(traits: ResponsesTraits): Effort | "none" | undefined {
  return traits.efforts[0];
}
