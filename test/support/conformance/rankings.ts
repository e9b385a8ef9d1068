/** One ranking of three documents, as upstreams of each dialect say it. */
import type { ScriptedReply } from "#test/support/fake-upstream";

export const dialects = ["Jina", "Cohere", "Voyage", "TEI"] as const;
export type Dialect = (typeof dialects)[number];

export const documents = ["the sun", "a river", "the moon"];
/** What is asked, but for the model. */
export const call = { query: "light at night", documents };
export const results = [
  { index: 2, relevance_score: 0.9 },
  { index: 0, relevance_score: 0.25 },
  { index: 1, relevance_score: 0.125 },
];
const meta = { api_version: { version: "2" }, billed_units: { search_units: 2 } };

/** The same ranking as each dialect says it, the best not first. */
export const replies: Readonly<Record<Dialect, unknown>> = {
  Jina: { model: "r-1", object: "list", usage: { total_tokens: 30 }, results: [...results].reverse() },
  Cohere: { id: "c1", results: [...results].reverse(), meta: { ...meta, tokens: { input_tokens: 30.0 } } },
  Voyage: { object: "list", data: [...results].reverse(), model: "r-1", usage: { total_tokens: 30 } },
  TEI: results.map(({ index, relevance_score: score }) => ({ index, score })).reverse(),
};

export function scriptOf(json: unknown): ScriptedReply {
  return { body: JSON.stringify(json) };
}
