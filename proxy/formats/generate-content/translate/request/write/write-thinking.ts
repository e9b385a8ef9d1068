/** The wish to think as `thinkingConfig` (`protocols/translation.md` section 6.1). */
import type { JsonObject } from "#proxy/json/json-value";
import type { Effort, ReasoningOptions } from "#proxy/neutral/conversation";
import { budgetOf, effortOf, wantedEffort } from "#proxy/neutral/reasoning-levels";
import type { ModelTraits } from "#proxy/neutral/traits/gemini-models";
import type { WriteOptions } from "./write-options.ts";

export function writeThinking(wish: ReasoningOptions | undefined, options: WriteOptions): JsonObject | undefined {
  const { traits, losses, target } = options;
  if (wish === undefined) return undefined;
  if (traits.thinking === "none") {
    if (wish.mode === "on") losses.drop(target.fieldName("reasoning"));
    return undefined;
  }
  const steering = traits.thinking === "level" ? levelOf(wish, traits) : budgetFor(wish, traits);
  const config = { ...steering, ...(wish.show === true && wish.mode !== "off" ? { includeThoughts: true } : {}) };
  return Object.keys(config).length === 0 ? undefined : config;
}

/** Generation 3 knows words, and no way to switch thinking off. */
function levelOf(wish: ReasoningOptions, traits: ModelTraits): JsonObject {
  if (wish.mode === "off") return { thinkingLevel: traits.lowestLevel };
  const effort = wantedEffort(wish);
  return effort === undefined ? {} : { thinkingLevel: levelByEffort(effort, traits) };
}

function levelByEffort(effort: Effort, traits: ModelTraits): string {
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
function budgetFor(wish: ReasoningOptions, { canSwitchOff, budgetMin, budgetMax }: ModelTraits): JsonObject {
  if (wish.mode === "off") return { thinkingBudget: canSwitchOff ? 0 : budgetMin };
  const wanted = wish.budget ?? (wish.effort === undefined ? undefined : budgetOf(wish.effort, budgetMax));
  if (wanted !== undefined) return { thinkingBudget: Math.min(Math.max(wanted, budgetMin), budgetMax) };
  return wish.mode === "auto"
    ? { thinkingBudget: -1 }
    : { thinkingBudget: budgetOf(effortOf(defaultBudget), budgetMax) };
}

/** Thinking that is on without any measure: medium. */
const defaultBudget = 8192;
