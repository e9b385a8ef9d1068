/** `POST /v1/rerank` (as Jina and most servers) and `/v2/rerank` (as Cohere): documents by likeness to a query. */
import { writeError } from "#examples/demo-upstream/chat-completions";
import { type DemoCall, type DemoEndpoint, jsonReply } from "#examples/demo-upstream/endpoint";
import { BadRequest } from "#examples/demo-upstream/format";
import { requiredText, wholeNumber } from "#examples/demo-upstream/http/read-option";
import { list, member, text } from "#examples/demo-upstream/json-view";
import { likeness, vectorOfText } from "./text-vector.ts";

/** Longer than those of embeddings: nobody reads these vectors, and fewer trigrams share a dimension. */
const dimensions = 2048;
const documentsMax = 1000;
/** Cohere's unit of billing. */
const documentsPerSearchUnit = 100;

interface Ranking {
  readonly documents: readonly string[];
  /** By falling score. */
  readonly results: readonly { readonly index: number; readonly relevance_score: number }[];
  readonly tokens: number;
}

export const rerank: DemoEndpoint = {
  path: /^\/v1\/rerank$/,
  keyHeader: "bearer",
  writeError,
  reply: (call) => {
    const { documents, results, tokens } = rank(call);
    const withDocuments = call.body["return_documents"] !== false;
    return jsonReply({
      id: `rerank-demo${call.serial}`,
      object: "list",
      model: call.model,
      usage: { prompt_tokens: tokens, total_tokens: tokens },
      results: results.map((result) =>
        withDocuments ? { ...result, document: { text: documents[result.index] } } : result,
      ),
    });
  },
};

export const cohereRerank: DemoEndpoint = {
  path: /^\/v2\/rerank$/,
  keyHeader: "bearer",
  writeError: (_status, message) => ({ message }),
  reply: (call) => {
    const { documents, results } = rank(call);
    return jsonReply({
      id: `rerank-demo${call.serial}`,
      results,
      meta: {
        api_version: { version: "2" },
        billed_units: { search_units: Math.ceil(documents.length / documentsPerSearchUnit) },
      },
    });
  },
};

function rank({ body, model }: DemoCall): Ranking {
  if (model === undefined) throw new BadRequest("model", "you must provide a model parameter");
  const query = requiredText(body, "query");
  const documents = list(body["documents"]).map((document) => text(document) ?? text(member(document, "text")) ?? "");
  if (documents.length === 0 || documents.length > documentsMax)
    throw new BadRequest("documents", `Invalid 'documents': give 1 to ${documentsMax} texts.`);
  const topCount = wholeNumber(body, "top_n", 1, Number.MAX_SAFE_INTEGER) ?? documents.length;
  const wanted = vectorOfText(query, dimensions);
  const results = documents
    .map((document, index) => ({
      index,
      relevance_score: Math.max(0, Number(likeness(wanted, vectorOfText(document, dimensions)).toFixed(6))),
    }))
    .sort((left, right) => right.relevance_score - left.relevance_score || left.index - right.index)
    .slice(0, topCount);
  const characters = documents.reduce((sum, document) => sum + document.length + query.length, 0);
  return { documents, results, tokens: Math.ceil(characters / 4) };
}
