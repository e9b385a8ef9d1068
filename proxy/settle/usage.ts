/**
 * Describes the usage of a call, in disjoint classes of whole tokens (docs/design/limits-and-money.md 2).
 *
 * The `read-usage.ts` of each wire format converts the format's numbers to this form; nothing is ever counted in two
 * classes. Absent counts are 0.
 */
export interface TokenUsage {
  /** Prompt tokens that are in no other class. */
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly cacheWrite1h: number;
  /** Produced tokens that are in no other class; those of drawings that are text (SVG) too. */
  readonly output: number;
  readonly reasoning: number;
  readonly audioInput: number;
  readonly audioOutput: number;
  readonly imageInput: number;
  readonly imageOutput: number;
  /** Provider-run web searches. */
  readonly searches: number;
}

export const zeroUsage: TokenUsage = {
  input: 0,
  cacheRead: 0,
  cacheWrite: 0,
  cacheWrite1h: 0,
  output: 0,
  reasoning: 0,
  audioInput: 0,
  audioOutput: 0,
  imageInput: 0,
  imageOutput: 0,
  searches: 0,
};

/** All prompt tokens, cached ones included. */
export function inputTokens(usage: TokenUsage): number {
  return usage.input + usage.cacheRead + usage.cacheWrite + usage.cacheWrite1h + usage.audioInput + usage.imageInput;
}

/** All produced tokens, reasoning included. */
export function outputTokens(usage: TokenUsage): number {
  return usage.output + usage.reasoning + usage.audioOutput + usage.imageOutput;
}

/** The same without what was produced. */
export function withoutOutput(usage: TokenUsage): TokenUsage {
  return { ...usage, output: 0, reasoning: 0, audioOutput: 0, imageOutput: 0 };
}
