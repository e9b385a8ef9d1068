/**
 * Counts what a rerank call uses: before it for the reservation, and after it where the upstream does not say.
 *
 * A model reads the query again with each document, and so do providers count it (Voyage: query tokens times documents,
 * plus the tokens of all documents; docs/design/rerank.md 6).
 */
import { attachmentTokens, type Estimate, estimateTextTokens } from "#proxy/admit/estimate-cost";
import { estimateUnits } from "#proxy/admit/estimate-units";
import type { SettlementContext } from "#proxy/dispatch/reservations/settle-call";
import type { UnitCounter } from "#proxy/dispatch/reservations/settle-units";
import { textCounter } from "#proxy/endpoints/dialects/text-counter";
import type { TokenUsage } from "#proxy/settle/usage";
import type { Fleet, Route } from "#proxy/snapshot/types.gen";
import { hasImage, queryText } from "./documents.ts";
import { documentsOfSearch } from "./read-ranking.ts";
import type { RerankCall } from "./read-rerank.ts";

/** Cohere counts a long document once for each 500 tokens, the query in each of them: it may take half. */
const tokensOfChunk = 250;

/** The most that the call may come to. */
export function estimateRerank(
  call: RerankCall,
  { fleet }: { readonly fleet: Fleet },
  { price }: Pick<Route, "price">,
): Estimate {
  const { body, query, documents } = call;
  const repeatedBytes = Buffer.byteLength(queryText(query)) * (documents.length - 1);
  const text = estimateTextTokens(body.textBytes + repeatedBytes, body.bytes.length + repeatedBytes, fleet);
  const input = text + imagesRead(call) * attachmentTokens;
  const searches = Math.ceil((documents.length + Math.ceil(input / tokensOfChunk)) / documentsOfSearch);
  return { amounts: estimateUnits({ usage: { input }, searches }, price) };
}

/** Those of documents, and that of the query with each of them. */
function imagesRead({ images, query, documents }: RerankCall): number {
  return hasImage(query) ? images + documents.length - 1 : images;
}

/** For upstreams that do not report tokens, and for calls without a whole reply. */
export function rerankCounter(context: SettlementContext<RerankCall>): UnitCounter {
  const { call, services } = context;
  const parts = call.documents.length;
  const text = textCounter(context, { parts, attachments: imagesRead(call) });
  const tokensOf = (query: string): Promise<number> | number => (query === "" ? 0 : services.estimateTokens(query));
  const tokens = async (): Promise<TokenUsage> => {
    const [once, query] = await Promise.all([text.tokens(), tokensOf(queryText(call.query))]);
    const input = once.input + query * (parts - 1);
    return { ...once, input, searches: Math.ceil(parts / documentsOfSearch) };
  };
  return { parts, tokens, partial: async () => ({ usage: await tokens() }) };
}
