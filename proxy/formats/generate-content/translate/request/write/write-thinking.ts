/** Writes the client's reasoning options as `thinkingConfig` (docs/design/translation.md 6.1). */
import type { JsonObject } from "#proxy/json/json-value";
import type { Effort, ReasoningOptions } from "#proxy/neutral/conversation";
import { budgetOf, effortOf, wantedEffort } from "#proxy/neutral/reasoning-levels";
import type { GeminiTraits } from "#proxy/neutral/traits/gemini-models";
import type { WriteOptions } from "./write-options.ts";

export function writeThinking(reasoning: ReasoningOptions | undefined, options: WriteOptions): JsonObject | undefined {
  const { traits, losses, target } = options;
  if (reasoning === undefined) return undefined;
  if (traits.thinking === "none") {
    if (reasoning.mode === "on") losses.drop(target.fieldName("reasoning"));
    return undefined;
  }
  const steering = traits.thinking === "level" ? levelOf(reasoning, traits) : budgetFor(reasoning, traits);
  const config = {
    ...steering,
    ...(reasoning.show === true && reasoning.mode !== "off" ? { includeThoughts: true } : {}),
  };
  return Object.keys(config).length === 0 ? undefined : config;
}

/** Generation 3 knows words, and no way to switch thinking off. */
function levelOf(reasoning: ReasoningOptions, traits: GeminiTraits): JsonObject {
  if (reasoning.mode === "off") return { thinkingLevel: traits.lowestLevel };
  const effort = wantedEffort(reasoning);
  return effort === undefined ? {} : { thinkingLevel: levelByEffort(effort, traits) };
}

function levelByEffort(effort: Effort, traits: GeminiTraits): string {
  switch (effort) {
    case "minimal":
      return traits.lowestLevel;
    case "low":
      return "LOW";
    case "medium":
      return traits.hasMediumLevel ? "MEDIUM" : "HIGH";
    case "high":
    case "xhigh":
    case "max":
      return "HIGH";
    default:
      return effort satisfies never;
  }
}

/** Generation 2.5 knows tokens; -1 leaves their number to the model. */
function budgetFor(reasoning: ReasoningOptions, { canSwitchOff, budgetMin, budgetMax }: GeminiTraits): JsonObject {
  if (reasoning.mode === "off") return { thinkingBudget: canSwitchOff ? 0 : budgetMin };
  const wanted =
    reasoning.budget ?? (reasoning.effort === undefined ? undefined : budgetOf(reasoning.effort, budgetMax));
  if (wanted !== undefined) return { thinkingBudget: Math.min(Math.max(wanted, budgetMin), budgetMax) };
  return reasoning.mode === "auto"
    ? { thinkingBudget: -1 }
    : { thinkingBudget: budgetOf(effortOf(defaultBudget), budgetMax) };
}

/** Thinking that is on without any measure: medium. */
const defaultBudget = 8192;
