/** What OpenAI's models accept, from its pages "Models" and "Reasoning models", apart from a format. */

/** A family that thinks: it takes no sampling parameters and no `max_tokens`. */
export function isReasoningModel(model: string): boolean {
  return /^(?:o\d|gpt-5)/.test(model) && !model.includes("chat");
}

/** Chat completions take no functions beside an effort from 5.4 on. */
export function refusesEffortBesideTools(model: string): boolean {
  const version = /^gpt-(\d+)(?:\.(\d+))?/.exec(model);
  if (version === null) return false;
  const [major, minor] = [Number(version[1]), Number(version[2] ?? 0)];
  return major > 5 || (major === 5 && minor >= 4);
}

/** The most tokens of a completion. */
export function outputTokensMax(model: string): number {
  if (model.startsWith("gpt-4o")) return 16_384;
  if (model.startsWith("gpt-4.1")) return 32_768;
  return /^o\d/.test(model) ? 100_000 : 128_000;
}
