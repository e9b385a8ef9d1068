/**
 * Bounds the usage that an upstream reports (PURE): its numbers become charges, and a broken or hostile one must not
 * empty an account with one reply (docs/design/reliability.md H5).
 */
import { inputTokens, outputTokens, type TokenUsage } from "./usage.ts";

/** Where a route names no context window: above every window there is. */
const windowTokensMax = 16 * 1024 * 1024;
/** No reply takes more. */
export const searchesMax = 1_000;

const inputClasses = ["input", "cacheRead", "cacheWrite", "cacheWrite1h", "audioInput", "imageInput"] as const;
const outputClasses = ["output", "reasoning", "audioOutput", "imageOutput"] as const;

export interface UsageBounds {
  /** `info.contextWindow` of the route. */
  readonly contextWindow: number | undefined;
  /** `n` or `candidateCount`: each has a window of its own. */
  readonly candidates: number;
  /** Requests that a turn took, each with a window of its own; 1 unless given. */
  readonly requests?: number;
}

/** @returns the same object when it is plausible, else one cut to the window, class by class, and to some searches */
export function boundUsage(
  usage: TokenUsage,
  { contextWindow = windowTokensMax, candidates, requests = 1 }: UsageBounds,
): TokenUsage {
  const inputMax = contextWindow * requests;
  const outputMax = inputMax * candidates;
  const isPlausible = inputTokens(usage) <= inputMax && outputTokens(usage) <= outputMax;
  if (isPlausible && usage.searches <= searchesMax) return usage;
  return {
    ...usage,
    ...cut(usage, inputClasses, inputMax),
    ...cut(usage, outputClasses, outputMax),
    searches: Math.min(usage.searches, searchesMax),
  };
}

function cut<Class extends keyof TokenUsage>(
  usage: TokenUsage,
  classes: readonly Class[],
  most: number,
): Partial<Record<Class, number>> {
  const bounded: Partial<Record<Class, number>> = {};
  let left = most;
  for (const name of classes) {
    bounded[name] = Math.min(usage[name], left);
    left -= Math.min(usage[name], left);
  }
  return bounded;
}
