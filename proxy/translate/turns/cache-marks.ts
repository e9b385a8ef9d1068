/** Marks for a provider's cache: each ends a beginning of the prompt that later calls have in common. */
import type { CacheHint, Part, ResultPart } from "../conversation.ts";

/** The mark that reaches furthest; undefined when there is none. */
export function lastCache(parts: readonly Part[]): CacheHint | undefined {
  return parts.findLast(({ cache }) => cache !== undefined)?.cache;
}

/** Formats have one place for a mark on a result, which is its end: marks inside of it go there. */
export function markedResult(result: ResultPart): ResultPart {
  const inner = lastCache(result.content);
  if (inner === undefined) return result;
  const content = result.content.map((part) => (part.cache === undefined ? part : { ...part, cache: undefined }));
  return { ...result, content, cache: result.cache ?? inner };
}
