/** Probabilities of tokens (`protocols/openai-chat.md` section 5): the neutral form has the same members. */
import { asList, isObject, type JsonObject, member } from "../../../protocols/json-value.ts";
import type { TokenLogprob } from "../../reply.ts";

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
  const { token, bytes } = entry;
  const logprob = plainNumber(entry["logprob"]);
  if (typeof token !== "string" || logprob === undefined) return undefined;
  const isBytes = Array.isArray(bytes) && bytes.every((byte: unknown) => typeof byte === "number");
  return { token, logprob, bytes: isBytes ? bytes : undefined };
}

/** A number whose digits were kept as text (`json-text.ts`) is a number all the same. */
function plainNumber(value: unknown): number | undefined {
  const number = typeof value === "object" ? Number(member(value, "rawJSON") ?? Number.NaN) : value;
  return typeof number === "number" && Number.isFinite(number) ? number : undefined;
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
