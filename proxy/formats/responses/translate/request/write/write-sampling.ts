/**
 * Writes sampling, length and thinking, as far as the model accepts them (docs/design/translation.md 3 and 6.1).
 */

import type { TranslationTarget } from "#proxy/formats/translator";
import type { JsonObject } from "#proxy/json/json-value";
import { cappedOutput } from "#proxy/neutral/capped-output";
import type { Conversation, ReasoningOptions } from "#proxy/neutral/conversation";
import type { Losses } from "#proxy/neutral/losses/losses";
import type { NeutralField } from "#proxy/neutral/losses/neutral-fields";
import { wantedEffort } from "#proxy/neutral/reasoning-levels";
import { type ResponsesTraits, responsesEffort, weakestEffort } from "#proxy/neutral/traits/responses-traits";

/** Whether temperature, `top_p` and log probabilities may be asked for. */
export function takesSampling(traits: ResponsesTraits, reasoning: ReasoningOptions | undefined): boolean {
  return traits.sampling === "always" || (traits.sampling === "without-thinking" && reasoning?.mode === "off");
}

export function writeSampling(
  { sampling, outputCap, reasoning }: Conversation,
  traits: ResponsesTraits,
  target: TranslationTarget,
  losses: Losses,
): JsonObject {
  const { temperature, topP, topLogprobs } = sampling;
  const isAccepted = takesSampling(traits, reasoning);
  // Its default says nothing, so that leaving it out loses nothing.
  const isLost = (field: NeutralField, value: number | undefined, usual: number): void => {
    if (!isAccepted && value !== undefined && value !== usual) losses.drop(target.fieldName(field));
  };
  isLost("temperature", temperature, 1);
  isLost("topP", topP, 1);
  isLost("topLogprobs", topLogprobs, 0);
  if (!isAccepted && sampling.logprobs === true) losses.drop(target.fieldName("logprobs"));
  const lose = (): void => losses.drop(target.fieldName("outputCap"));
  const most = cappedOutput(outputCap, [traits.outputTokensMax, target.outputTokensMax], lose);
  const cap = most === undefined ? undefined : Math.max(most, traits.outputCapMin);
  if (cap !== most) lose();
  return {
    ...(cap === undefined ? {} : { max_output_tokens: cap }),
    ...(isAccepted && temperature !== undefined ? { temperature: Math.min(temperature, 2) } : {}),
    ...(isAccepted && topP !== undefined ? { top_p: topP } : {}),
    ...(isAccepted && topLogprobs !== undefined ? { top_logprobs: topLogprobs } : {}),
  };
}

/** Member `reasoning`, where the client wished something that the model knows. */
export function writeReasoning(
  { reasoning }: Conversation,
  traits: ResponsesTraits,
  target: TranslationTarget,
  losses: Losses,
): JsonObject {
  if (reasoning === undefined) return {};
  if (!traits.thinks) {
    if (reasoning.mode === "on") losses.drop(target.fieldName("reasoning"));
    return {};
  }
  const effort = effortFor(reasoning, traits);
  const isShown = reasoning.show === true && reasoning.mode !== "off";
  const members = {
    ...(effort === undefined ? {} : { effort }),
    ...(isShown ? { summary: reasoning.summary ?? "auto" } : {}),
  };
  return Object.keys(members).length === 0 ? {} : { reasoning: members };
}

function effortFor(reasoning: ReasoningOptions, traits: ResponsesTraits): string | undefined {
  if (reasoning.mode === "off") {
    const weakest = weakestEffort(traits);
    return weakest === "none" || weakest === "minimal" ? weakest : undefined;
  }
  const wanted = wantedEffort(reasoning);
  return wanted === undefined ? undefined : responsesEffort(wanted, traits);
}
