/** Writes how hard the model shall think, in the words that it knows (`protocols/translation.md` section 6.1). */
import type { JsonObject } from "#proxy/json/json-value";
import type { Effort, ReasoningOptions } from "#proxy/neutral/conversation";
import { wantedEffort } from "#proxy/neutral/reasoning-levels";
import type { ModelTraits } from "#proxy/neutral/traits/chat-traits";
import { nothing } from "./nothing.ts";

const ladder: readonly Effort[] = ["minimal", "low", "medium", "high", "xhigh", "max"];

export interface EffortContext {
  /** Functions are offered in the same call. */
  readonly hasTools: boolean;
  /** Told of a wish that cannot be said. */
  readonly lose: () => void;
}

export function writeReasoning(
  wish: ReasoningOptions | undefined,
  traits: ModelTraits,
  { hasTools, lose }: EffortContext,
): JsonObject {
  if (hasTools && traits.toolsOnChat !== "with-effort" && traits.efforts.length > 0) {
    return besideTools(wish, traits, lose);
  }
  if (wish === undefined) return nothing;
  const members = membersFor(wish, traits);
  // Left to the model, or shown: chat completions have nothing to say about either.
  if (members === undefined && (wish.mode === "off" || wantedEffort(wish) !== undefined)) lose();
  // A switch has no measure.
  const isSwitch = traits.reasoningMember === "thinking" && wish.mode !== "off";
  if (isSwitch && wantedEffort(wish) !== undefined) lose();
  return members ?? nothing;
}

/** The model refuses functions beside thinking here: it is asked for none, without a word where that is its way. */
function besideTools(wish: ReasoningOptions | undefined, traits: ModelTraits, lose: () => void): JsonObject {
  const isWanted = wish !== undefined && (wish.mode === "on" || wish.carriesBlocks === true || hasMeasure(wish));
  if (isWanted && wish.mode !== "off") lose();
  if (traits.toolsOnChat === "without-effort") return nothing;
  return membersFor({ mode: "off" }, traits) ?? nothing;
}

function hasMeasure(wish: ReasoningOptions): boolean {
  return wantedEffort(wish) !== undefined;
}

function membersFor(wish: ReasoningOptions, traits: ModelTraits): JsonObject | undefined {
  const effort = knownEffort(wish, traits);
  if (traits.reasoningMember === "thinking") {
    return { thinking: { type: wish.mode === "off" ? "disabled" : "enabled" } };
  }
  if (traits.reasoningMember === "reasoning") {
    if (wish.mode === "off") return { reasoning: { enabled: false } };
    if (wish.effort === undefined && wish.budget !== undefined) return { reasoning: { max_tokens: wish.budget } };
    return { reasoning: effort === undefined ? { enabled: true } : { effort } };
  }
  return effort === undefined ? undefined : { reasoning_effort: effort };
}

/** The wanted word, else the next weaker one, else the next stronger one; off is `none`, else `minimal`. */
function knownEffort(wish: ReasoningOptions, { efforts }: ModelTraits): Effort | "none" | undefined {
  if (wish.mode === "off") return efforts.find((effort) => effort === "none" || effort === "minimal");
  const wanted = wantedEffort(wish);
  if (wanted === undefined) return undefined;
  const at = ladder.indexOf(wanted);
  const order = [...ladder.slice(0, at + 1).reverse(), ...ladder.slice(at + 1)];
  return order.find((effort) => efforts.includes(effort));
}
