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
import { asText, member } from "#proxy/json/json-value";
import type { TokenUsage } from "#proxy/settle/usage";
import type { Fleet, Route } from "#proxy/snapshot/types.gen";
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
  const { body, documents, images } = call;
  const repeatedBytes = Buffer.byteLength(queryText(call)) * (documents.length - 1);
  const text = estimateTextTokens(body.textBytes + repeatedBytes, body.bytes.length + repeatedBytes, fleet);
  const input = text + images * attachmentTokens;
  const searches = Math.ceil((documents.length + Math.ceil(input / tokensOfChunk)) / documentsOfSearch);
  return { amounts: estimateUnits({ usage: { input }, searches }, price) };
}

/** An image of a query is counted with those of documents. */
function queryText({ query }: RerankCall): string {
  return typeof query === "string" ? query : asText(member(query, "text"));
}

/** For upstreams that do not report tokens, and for calls without a whole reply. */
export function rerankCounter(context: SettlementContext<RerankCall>): UnitCounter {
  const { call, services } = context;
  const parts = call.documents.length;
  const text = textCounter(context, { parts, attachments: call.images });
  const tokens = async (): Promise<TokenUsage> => {
    const [once, query] = await Promise.all([text.tokens(), services.estimateTokens(queryText(call))]);
    const input = once.input + query * (parts - 1);
    return { ...once, input, searches: Math.ceil(parts / documentsOfSearch) };
  };
  return { parts, tokens, partial: async () => ({ usage: await tokens() }) };
}
