/**
 * Converts reasoning effort between words and tokens: vendors have no common standard, so these tables are the
 * gateway's own (docs/design/translation.md 6.1).
 */
import type { Effort } from "./conversation.ts";

const budgets: Readonly<Record<Exclude<Effort, "max">, number>> = {
  minimal: 1024,
  low: 2048,
  medium: 8192,
  high: 24_576,
  xhigh: 32_768,
};

/** @param budgetMax the model's own limit, also what `max` means */
export function budgetOf(effort: Effort, budgetMax: number): number {
  return effort === "max" ? budgetMax : Math.min(budgets[effort], budgetMax);
}

export function effortOf(budget: number): Effort {
  if (budget <= 1024) return "minimal";
  if (budget < 4096) return "low";
  if (budget < 16_384) return "medium";
  return budget < 32_768 ? "high" : "xhigh";
}

/** What the client asked for as one effort; undefined when it set neither effort nor budget. */
export function wantedEffort(reasoning: {
  readonly effort?: Effort | undefined;
  readonly budget?: number | undefined;
}): Effort | undefined {
  return reasoning.effort ?? (reasoning.budget === undefined ? undefined : effortOf(reasoning.budget));
}
