/**
 * Reads `prompt_cache_options` of OpenAI's two formats, which spell them alike (docs/design/chat-completions.md 2).
 */
import { isObject, type JsonObject } from "#proxy/json/json-value";
import { isSet, unmappedIn } from "./losses/unmapped-members.ts";

/** What both formats have; the others name what only the client's own can look up. */
const shared = ["mode", "ttl"] as const;
const known: ReadonlySet<string> = new Set(shared);

export function readCacheOptions(value: unknown): JsonObject | undefined {
  if (!isObject(value)) return undefined;
  const said = shared.filter((name) => isSet(value[name])).map((name) => [name, value[name]] as const);
  return said.length === 0 ? undefined : Object.fromEntries(said);
}

/** @returns paths of what `readCacheOptions` leaves */
export function unmappedCacheOptions(value: unknown): string[] {
  const where = "prompt_cache_options";
  if (isObject(value)) return unmappedIn(value, known, where);
  return isSet(value) ? [where] : [];
}
