/**
 * Removes Claude Code's attribution block (code.claude.com, LLM gateway protocol, "System prompt attribution block"): a
 * line for Anthropic's accounting at the head of the system text, with a hash that changes with each request.
 *
 * A call that goes out in another format leaves it out: with it no two turns would have the same prefix for another
 * provider's prompt cache. It means nothing to a model, so leaving it out is not a loss and is not declared.
 */
import type { TextPart } from "#proxy/neutral/conversation";

const attribution = /^\s*x-anthropic-billing-header:[^\n]*\n?/;

/** System texts without that line; without the block where it holds nothing else. */
export function withoutAttribution(parts: readonly TextPart[]): readonly TextPart[] {
  if (!parts.some(({ text }) => attribution.test(text))) return parts;
  return parts.flatMap((part) => {
    const text = withoutAttributionLine(part.text);
    if (text === part.text) return [part];
    return text.trim() === "" ? [] : [{ ...part, text }];
  });
}

/** A system text without that line at its head. */
export function withoutAttributionLine(text: string): string {
  return text.replace(attribution, "");
}
