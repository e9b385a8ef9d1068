/**
 * Reads the reply to a rerank call, in whichever of the known forms: `results` (Jina, Cohere and most servers), `data`
 * (Voyage), or a list alone (TEI).
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
  const seen = new Set<number>();
  const results = items.map((item, at) => readResult(item, at, documents, seen));
  const wasSorted = results.every(({ score }, at) => at === 0 || score <= (results[at - 1]?.score ?? score));
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

function readResult(item: unknown, at: number, documents: number, seen: Set<number>): RankedResult {
  const index = member(item, "index");
  const score = member(item, "relevance_score") ?? member(item, "score");
  if (!isObject(item) || typeof score !== "number" || !Number.isFinite(score)) {
    throw new InvalidReply(`result ${at + 1} has no score`);
  }
  if (typeof index !== "number" || !Number.isInteger(index) || index < 0 || index >= documents) {
    throw new InvalidReply(`result ${at + 1} has an index that is none of a document of the call`);
  }
  if (seen.has(index)) throw new InvalidReply(`result ${at + 1} has the index of another result`);
  seen.add(index);
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
