/** Writes how hard the model should think, in the words that it knows (docs/design/translation.md 6.1). */
import type { JsonObject } from "#proxy/json/json-value";
import type { Effort, ReasoningOptions } from "#proxy/neutral/conversation";
import { wantedEffort } from "#proxy/neutral/reasoning-levels";
import type { ChatTraits } from "#proxy/neutral/traits/chat-traits";
import { noMembers } from "./no-members.ts";

const ladder: readonly Effort[] = ["minimal", "low", "medium", "high", "xhigh", "max"];

export interface EffortContext {
  /** Functions are offered in the same call. */
  readonly hasTools: boolean;
  /** Called for options that cannot be written. */
  readonly lose: () => void;
}

export function writeReasoning(
  reasoning: ReasoningOptions | undefined,
  traits: ChatTraits,
  { hasTools, lose }: EffortContext,
): JsonObject {
  if (hasTools && traits.toolsOnChat !== "with-effort" && traits.efforts.length > 0) {
    return besideTools(reasoning, traits, lose);
  }
  if (reasoning === undefined) return noMembers;
  const members = membersFor(reasoning, traits);
  // Left to the model, or shown: chat completions have nothing to say about either.
  if (members === undefined && (reasoning.mode === "off" || wantedEffort(reasoning) !== undefined)) lose();
  // A switch has no measure.
  const isSwitch = traits.reasoningMember === "thinking" && reasoning.mode !== "off";
  if (isSwitch && wantedEffort(reasoning) !== undefined) lose();
  return members ?? noMembers;
}

/** The model refuses functions beside thinking here: it is asked for none, without a word where that is its way. */
function besideTools(reasoning: ReasoningOptions | undefined, traits: ChatTraits, lose: () => void): JsonObject {
  const isWanted =
    reasoning !== undefined && (reasoning.mode === "on" || reasoning.carriesBlocks === true || hasMeasure(reasoning));
  if (isWanted && reasoning.mode !== "off") lose();
  if (traits.toolsOnChat === "without-effort") return noMembers;
  return membersFor({ mode: "off" }, traits) ?? noMembers;
}

function hasMeasure(reasoning: ReasoningOptions): boolean {
  return wantedEffort(reasoning) !== undefined;
}

function membersFor(reasoning: ReasoningOptions, traits: ChatTraits): JsonObject | undefined {
  const effort = knownEffort(reasoning, traits);
  if (traits.reasoningMember === "thinking") {
    return { thinking: { type: reasoning.mode === "off" ? "disabled" : "enabled" } };
  }
  if (traits.reasoningMember === "reasoning") {
    if (reasoning.mode === "off") return { reasoning: { enabled: false } };
    if (reasoning.effort === undefined && reasoning.budget !== undefined)
      return { reasoning: { max_tokens: reasoning.budget } };
    return { reasoning: effort === undefined ? { enabled: true } : { effort } };
  }
  return effort === undefined ? undefined : { reasoning_effort: effort };
}

/** The wanted word, else the next weaker one, else the next stronger one; off is `none`, else `minimal`. */
function knownEffort(reasoning: ReasoningOptions, { efforts }: ChatTraits): Effort | "none" | undefined {
  if (reasoning.mode === "off") return efforts.find((effort) => effort === "none" || effort === "minimal");
  const wanted = wantedEffort(reasoning);
  if (wanted === undefined) return undefined;
  const at = ladder.indexOf(wanted);
  const order = [...ladder.slice(0, at + 1).reverse(), ...ladder.slice(at + 1)];
  return order.find((effort) => efforts.includes(effort));
}
