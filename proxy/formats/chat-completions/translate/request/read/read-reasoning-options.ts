/**
 * Reads how hard the model should think: `reasoning_effort`, and the members that vendors of this format use instead
 * (docs/design/translation.md 6.1, docs/design/chat-completions.md 2.3).
 */
import { isObject, type JsonObject } from "#proxy/json/json-value";
import type { Effort, ReasoningOptions } from "#proxy/neutral/conversation";

/** Members read here, whichever of them decides. */
export const reasoningMembers = ["reasoning_effort", "reasoning", "thinking", "enable_thinking", "thinking_budget"];

const efforts: ReadonlySet<unknown> = new Set(["minimal", "low", "medium", "high", "xhigh", "max"]);

function isEffort(value: unknown): value is Effort {
  return efforts.has(value);
}

/**
 * The first member that says something decides; an effort of no known name says nothing and is left for `unmapped`.
 * Thinking is shown: a chat client that does not want it ignores it.
 */
export function readReasoningOptions(body: JsonObject): ReasoningOptions | undefined {
  return (
    ofEffort(body["reasoning_effort"]) ??
    ofReasoning(body["reasoning"]) ??
    ofThinking(body["thinking"]) ??
    ofSwitch(body["enable_thinking"], body["thinking_budget"])
  );
}

/** Whether `reasoning_effort` has a word that no provider page knows. */
export function isUnknownEffort(body: JsonObject): boolean {
  const effort = body["reasoning_effort"];
  return effort !== undefined && effort !== null && effort !== "none" && !isEffort(effort);
}

function ofEffort(effort: unknown): ReasoningOptions | undefined {
  if (effort === "none") return { mode: "off" };
  return isEffort(effort) ? { mode: "on", effort, show: true } : undefined;
}

/** OpenRouter's object. */
function ofReasoning(reasoning: unknown): ReasoningOptions | undefined {
  if (!isObject(reasoning)) return undefined;
  const { effort, max_tokens: budget, enabled, exclude } = reasoning;
  if (enabled === false || effort === "none") return { mode: "off" };
  const show = exclude !== true;
  if (isEffort(effort)) return { mode: "on", effort, show };
  if (isBudget(budget)) return { mode: "on", budget, show };
  return enabled === true ? { mode: "auto", show } : undefined;
}

/** DeepSeek, Zhipu, Moonshot and Anthropic's compatible endpoint. */
function ofThinking(thinking: unknown): ReasoningOptions | undefined {
  if (!isObject(thinking)) return undefined;
  const { type, budget_tokens: budget } = thinking;
  if (type === "disabled") return { mode: "off" };
  if (type !== "enabled" && type !== "auto" && type !== "adaptive") return undefined;
  return isBudget(budget) ? { mode: "on", budget, show: true } : { mode: "auto", show: true };
}

/** Qwen. */
function ofSwitch(enabled: unknown, budget: unknown): ReasoningOptions | undefined {
  if (enabled === false) return { mode: "off" };
  if (isBudget(budget)) return { mode: "on", budget, show: true };
  return enabled === true ? { mode: "auto", show: true } : undefined;
}

function isBudget(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0;
}
