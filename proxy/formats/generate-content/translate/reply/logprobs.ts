/** Reads and writes probabilities of tokens (docs/design/translation.md 11.2). */
import { asList, type JsonObject, member } from "#proxy/json/json-value";
import type { TokenLogprob } from "#proxy/neutral/reply";

/** `logprobsResult` of a candidate. */
export function readLogprobs(result: unknown): TokenLogprob[] {
  const alternatives = asList(member(result, "topCandidates"));
  return asList(member(result, "chosenCandidates")).flatMap((chosen, index) => {
    const token = readToken(chosen);
    if (token === undefined) return [];
    const top = asList(member(alternatives[index], "candidates")).flatMap((candidate) => readToken(candidate) ?? []);
    return [{ ...token, top }];
  });
}

function readToken(value: unknown): Omit<TokenLogprob, "top"> | undefined {
  const token = member(value, "token");
  const logprob = member(value, "logProbability");
  if (typeof token !== "string") return undefined;
  return { token, logprob: typeof logprob === "number" ? logprob : 0, bytes: [...Buffer.from(token)] };
}

export function writeLogprobs(tokens: readonly TokenLogprob[]): JsonObject {
  const write = ({ token, logprob }: { readonly token: string; readonly logprob: number }): JsonObject => ({
    token,
    logProbability: logprob,
  });
  return {
    chosenCandidates: tokens.map(write),
    topCandidates: tokens.map(({ top }) => ({ candidates: top.map(write) })),
  };
}
