/**
 * Reads and writes probabilities of tokens (docs/design/chat-completions.md 5): the neutral form has the same members.
 */
import { asList, isObject, type JsonObject, member } from "#proxy/json/json-value";
import type { TokenLogprob } from "#proxy/neutral/reply";

/** @param logprobs of a choice; entries of another shape are left out */
export function readLogprobs(logprobs: unknown): TokenLogprob[] {
  return asList(member(logprobs, "content")).flatMap((entry) => {
    const token = readToken(entry);
    if (token === undefined) return [];
    const top = asList(member(entry, "top_logprobs")).flatMap((other) => readToken(other) ?? []);
    return [{ ...token, top }];
  });
}

function readToken(entry: unknown): Omit<TokenLogprob, "top"> | undefined {
  if (!isObject(entry)) return undefined;
  const { token, bytes, logprob } = entry;
  if (typeof token !== "string" || typeof logprob !== "number") return undefined;
  const isBytes = Array.isArray(bytes) && bytes.every((byte: unknown) => typeof byte === "number");
  return { token, logprob, bytes: isBytes ? bytes : undefined };
}

/** @returns null where there are none, which is how this format says so */
export function writeLogprobs(tokens: readonly TokenLogprob[]): JsonObject | null {
  if (tokens.length === 0) return null;
  return {
    content: tokens.map((token) => ({ ...writeToken(token), top_logprobs: token.top.map(writeToken) })),
    refusal: null,
  };
}

/** Formats without bytes mean the token's own UTF-8. */
function writeToken({ token, logprob, bytes }: Omit<TokenLogprob, "top">): JsonObject {
  return { token, logprob, bytes: bytes ?? [...Buffer.from(token)] };
}
