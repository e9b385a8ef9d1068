/** Writes thinking and the output cap, which includes it (docs/design/translation.md 3 and 6.1). */
import type { Conversation, Effort } from "#proxy/neutral/conversation";
import { budgetOf, wantedEffort } from "#proxy/neutral/reasoning-levels";
import { type ClaudeTraits, claudeEffort, outputTokensDefault } from "#proxy/neutral/traits/claude-models";
import type { Block } from "./block.ts";

export interface WrittenThinking {
  readonly thinking: Block | undefined;
  readonly effort: Effort | undefined;
  readonly maxTokens: number;
  readonly isOn: boolean;
  /** The client asked for something that this call cannot have. */
  readonly losesReasoning: boolean;
  readonly losesOutputCap: boolean;
}

export interface ThinkingOptions {
  readonly traits: ClaudeTraits;
  /** What the operator says the model can produce. */
  readonly outputTokensMax: number | undefined;
  /** The model must call a tool, or the message it continues lacks its thinking: a budget would be refused. */
  readonly mustNotThink: boolean;
}

/** The vendor refuses smaller budgets. */
const budgetMin = 1024;
/** A model of unknown limits is not asked for more thinking than the oldest thinking models could do. */
const budgetMaxUnknown = 32_000;

export function writeThinking(conversation: Conversation, options: ThinkingOptions): WrittenThinking {
  const { traits } = options;
  const { reasoning, outputCap } = conversation;
  const cap = smallest(traits.outputTokensMax, options.outputTokensMax);
  const maxTokens = Math.min(outputCap ?? cap ?? outputTokensDefault, cap ?? Number.MAX_SAFE_INTEGER);
  const plain = {
    thinking: undefined,
    effort: undefined,
    maxTokens,
    isOn: false,
    losesReasoning: false,
    losesOutputCap: outputCap !== undefined && maxTokens < outputCap,
  };
  if (reasoning === undefined) return plain;
  if (reasoning.mode === "off") return { ...plain, ...thinkingOff(traits) };
  if (traits.thinking === "adaptive") {
    const wanted = wantedEffort(reasoning);
    const thinking = { type: "adaptive", ...display(reasoning.show) };
    return { ...plain, thinking, effort: wanted === undefined ? undefined : claudeEffort(wanted, traits), isOn: true };
  }
  if (traits.thinking === "none" || options.mustNotThink) return { ...plain, losesReasoning: true };
  return { ...plain, ...withBudget(conversation, maxTokens, cap) };
}

function smallest(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined ? other : Math.min(one, other ?? one);
}

/** The default differs from model to model (pitfall 96). */
function display(show: boolean | undefined): Block {
  return show === undefined ? {} : { display: show ? "summarized" : "omitted" };
}

/** Some models think unless told not to (pitfall 94), some cannot be stopped and think little when asked. */
function thinkingOff(traits: ClaudeTraits): Partial<WrittenThinking> {
  if (traits.thinking === "none") return {};
  if (traits.canStopThinking) return { thinking: { type: "disabled" } };
  return { thinking: { type: "adaptive", ...display(false) }, effort: "low", isOn: true };
}

/** `1024 <= budget < max_tokens`, and a quarter of the output is left for the text itself. */
function withBudget(
  { reasoning, outputCap, outputCapIsVisibleText }: Conversation,
  maxTokens: number,
  cap: number | undefined,
): Partial<WrittenThinking> {
  const budgetMax = cap === undefined ? budgetMaxUnknown : Math.max(budgetMin, cap - 1);
  const wanted = Math.max(budgetMin, reasoning?.budget ?? budgetOf(reasoning?.effort ?? "medium", budgetMax));
  const isVisible = outputCap !== undefined && outputCapIsVisibleText === true;
  const raised = isVisible ? Math.min(cap ?? Number.MAX_SAFE_INTEGER, maxTokens + wanted) : maxTokens;
  const budget = Math.min(wanted, raised - Math.max(1, Math.floor(raised / 4)));
  if (budget < budgetMin) return { losesReasoning: true };
  return { thinking: { type: "enabled", budget_tokens: budget }, maxTokens: raised, isOn: true };
}
