/**
 * Writes marks for the prompt cache (docs/design/messages.md 3.1): at most four in a request, and none that lives an
 * hour behind one that lives five minutes.
 */
import type { CacheHint } from "#proxy/neutral/conversation";
import type { Block } from "./block.ts";

const marksMax = 4;

/** `cache_control` of a hint; other providers know other times, of which the nearest counts. */
export function cacheControl(cache: CacheHint | undefined, takesTtl: boolean): Block {
  if (cache === undefined) return {};
  const ttl = takesTtl ? knownTtl(cache.ttl) : undefined;
  return { cache_control: { type: "ephemeral", ...(ttl === undefined ? {} : { ttl }) } };
}

function knownTtl(ttl: string | undefined): "5m" | "1h" | undefined {
  if (ttl === undefined) return undefined;
  return ttl === "5m" || ttl === "30m" ? "5m" : "1h";
}

/**
 * Takes off the marks that are too many, the first ones: the last reach furthest. What is left in front keeps its time.
 * @param blocks everything that may have a mark, in the order of the prompt; changed in place
 * @param reserved marks that the provider places itself
 * @returns whether marks were taken off
 */
export function limitCacheMarks(blocks: readonly Block[], reserved: number): boolean {
  const marked = blocks.filter((block) => block["cache_control"] !== undefined);
  const surplus = marked.slice(0, Math.max(0, marked.length + reserved - marksMax));
  for (const block of surplus) delete block["cache_control"];
  let mayLiveLong = true;
  for (const block of marked.slice(surplus.length)) {
    const lives = isObjectWithTtl(block["cache_control"]) ? block["cache_control"].ttl : undefined;
    if (lives === "1h" && !mayLiveLong) block["cache_control"] = { type: "ephemeral", ttl: "5m" };
    if (lives !== "1h") mayLiveLong = false;
  }
  return surplus.length > 0;
}

function isObjectWithTtl(value: unknown): value is { readonly ttl?: unknown } {
  return typeof value === "object" && value !== null;
}
