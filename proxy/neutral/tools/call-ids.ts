/**
 * Fits ids of calls for OpenAI, which refuses those beyond 64 characters (`string_above_max_length`) and those that
 * hold anything but letters, digits, `_` and `-` ("Expected an ID that contains letters, numbers, underscores, or
 * dashes").
 *
 * Compatible servers get ids unchanged: some put state of their own into the ids that come back to them.
 */
import type { Conversation } from "#proxy/neutral/conversation";
import { FittedNames, type NameRule } from "./fitted-names.ts";

const rule: NameRule = {
  valid: /^[a-zA-Z0-9_-]{1,64}$/,
  foreign: /[^a-zA-Z0-9_-]/g,
  firstValid: /^./,
  alwaysDigests: true,
};

/** @returns undefined where the target takes any id */
export function callIds(
  { turns }: Conversation,
  { checksLikeOpenAI }: { readonly checksLikeOpenAI: boolean },
): FittedNames | undefined {
  if (!checksLikeOpenAI) return undefined;
  const ids = turns.flatMap(({ parts }) => parts.flatMap((part) => (part.kind === "call" ? [part.id] : [])));
  return ids.every((id) => rule.valid.test(id)) ? undefined : new FittedNames(rule, ids);
}
