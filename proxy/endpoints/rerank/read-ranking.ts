/**
 * Reads the reply to a rerank call, in whichever of the known forms: `results` (Jina, Cohere and most servers), `data`
 * (Voyage), or a list alone (TEI). What is no ranking of the call is refused (docs/design/rerank.md 3).
 */
import { count, firstCount } from "#proxy/formats/token-counts";
import { asList, isObject, type JsonObject, member, memberAt } from "#proxy/json/json-value";
import { InvalidReply } from "#proxy/neutral/reply";
import { type TokenUsage, zeroUsage } from "#proxy/settle/usage";

/** One document of the call with its score. */
export interface RankedResult {
  /** Of the document in the client's order. */
  readonly index: number;
  readonly score: number;
  /** As the upstream told it. */
  readonly item: JsonObject;
}

export interface Ranking {
  /** The best first; those of one score as the upstream has them. */
  readonly results: readonly RankedResult[];
  /** Whether the upstream had them in this order. */
  readonly wasSorted: boolean;
  /** Tokens as reported, and searches as reported or counted. */
  readonly usage: TokenUsage;
}

/** Documents that Cohere counts as one search (docs.cohere.com, "Rerank": a search unit). */
export const documentsOfSearch = 100;

/**
 * @param documents how many the call has
 * @returns undefined for what is no ranking
 * @throws InvalidReply for one that does not belong to the call
 */
export function readRanking(json: unknown, documents: number): Ranking | undefined {
  const items = itemsOf(json);
  if (items.length === 0) return undefined;
  const seen = new Uint8Array(documents);
  const results: RankedResult[] = [];
  let wasSorted = true;
  let least = Number.POSITIVE_INFINITY;
  for (const item of items) {
    const result = readResult(item, results.length, seen);
    wasSorted &&= result.score <= least;
    least = result.score;
    results.push(result);
  }
  return {
    results: wasSorted ? results : results.sort((left, right) => right.score - left.score),
    wasSorted,
    usage: readUsage(json, documents),
  };
}

function itemsOf(json: unknown): readonly unknown[] {
  if (Array.isArray(json)) return json;
  const error = member(json, "error");
  if (error !== undefined && error !== null) return [];
  return asList(member(json, "results") ?? member(json, "data"));
}

/** @param seen one for each document that has its result */
function readResult(item: unknown, at: number, seen: Uint8Array): RankedResult {
  if (!isObject(item)) throw new InvalidReply(`result ${at + 1} is no object`);
  const { index, score: otherName, relevance_score: score = otherName } = item;
  if (typeof score !== "number" || !Number.isFinite(score)) throw new InvalidReply(`result ${at + 1} has no score`);
  const known = typeof index === "number" ? seen[index] : undefined;
  if (typeof index !== "number" || known === undefined) {
    throw new InvalidReply(`result ${at + 1} has an index that is none of a document of the call`);
  }
  if (known === 1) throw new InvalidReply(`result ${at + 1} has the index of another result`);
  seen[index] = 1;
  return { index, score, item };
}

/** Cohere tells tokens as fractions, and searches where it charges them; nobody else tells searches. */
function readUsage(json: unknown, documents: number): TokenUsage {
  const usage = member(json, "usage");
  const meta = member(json, "meta");
  const input = firstCount(
    member(usage, "total_tokens"),
    member(usage, "prompt_tokens"),
    memberAt(meta, "tokens", "input_tokens"),
    memberAt(meta, "billed_units", "input_tokens"),
    memberAt(meta, "billed_units", "total_tokens"),
  );
  const searches = count(memberAt(meta, "billed_units", "search_units"));
  return {
    ...zeroUsage,
    input,
    output: count(memberAt(meta, "tokens", "output_tokens")),
    searches: searches > 0 ? searches : Math.ceil(documents / documentsOfSearch),
  };
}
