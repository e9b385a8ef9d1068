/**
 * Writes the response of a rerank call in the form of the path that the client called (docs/design/rerank.md 2).
 *
 * The rule for every upstream: the best result first, `index` is that of the client's document, at most `top_n` results,
 * and a document that the client wants comes from its own request where the upstream left it out. A reply of the
 * client's form that keeps the rule passes byte for byte; Jina's form gets the members `id` and `meta`, which Cohere's
 * older clients read at the same path.
 */
import { isObject, type JsonObject, member } from "#proxy/json/json-value";
import { newId } from "#proxy/neutral/ids/new-id";
import type { RankedResult, Ranking } from "./read-ranking.ts";
import type { RerankCall } from "./read-rerank.ts";
import type { RerankDialectName } from "./write-rerank.ts";

/** The reply to a call. */
export interface RankingReply {
  readonly body: Buffer;
  readonly json: unknown;
  readonly ranking: Ranking;
  /** Of the upstream. */
  readonly dialect: RerankDialectName;
}

/** Whether results have their documents; `undefined`: as the upstream has them. */
type Documents = "all" | "none" | undefined;

export function writeRanking(call: RerankCall, reply: RankingReply): Buffer {
  const { body, json, ranking, dialect } = reply;
  const own = dialect === call.endpoint.shape && isOwnForm(json, ranking) ? json : undefined;
  const documents = documentsFor(call, own !== undefined);
  if (own === undefined) return jsonBytes(converted(call, reply, documents));
  if (ranking.wasSorted && ranking.results.length <= call.topN && haveDocuments(ranking, documents)) {
    return call.endpoint.shape === "Jina" ? withCohereMembers(body, own, reply) : body;
  }
  const results = clipped(call, ranking).map((result) => ({ ...ownItem(result, call, documents) }));
  const others = call.endpoint.shape === "Jina" ? cohereMembers(own, reply) : {};
  return jsonBytes({ ...own, results, ...others });
}

function isOwnForm(json: unknown, { results }: Ranking): json is JsonObject {
  const isListed = Array.isArray(member(json, "results"));
  return isListed && results.every(({ item }) => typeof item["relevance_score"] === "number");
}

/** Jina's clients get documents unless they refuse them, except from an upstream that decides so itself. */
function documentsFor({ wantsDocuments, endpoint }: RerankCall, isOwn: boolean): Documents {
  if (wantsDocuments !== undefined) return wantsDocuments ? "all" : "none";
  if (endpoint.shape === "Cohere") return "none";
  return isOwn ? undefined : "all";
}

function haveDocuments({ results }: Ranking, documents: Documents): boolean {
  if (documents === undefined) return true;
  return results.every(({ item }) => hasDocument(item) === (documents === "all"));
}

function hasDocument(item: JsonObject): boolean {
  return (item["document"] ?? undefined) !== undefined;
}

function clipped({ topN }: RerankCall, { results }: Ranking): readonly RankedResult[] {
  return results.slice(0, topN);
}

function ownItem({ index, item }: RankedResult, call: RerankCall, documents: Documents): JsonObject {
  if (documents === undefined || hasDocument(item) === (documents === "all")) return item;
  if (documents === "all") return { ...item, document: documentAt(call, index) };
  const { document: _document, ...rest } = item;
  return rest;
}

function documentAt({ documents }: RerankCall, index: number): JsonObject {
  const document = documents.at(index);
  return typeof document === "string" ? { text: document } : document;
}

function converted(call: RerankCall, reply: RankingReply, documents: Documents): JsonObject {
  const { json, ranking } = reply;
  const results = clipped(call, ranking).map(({ index, score }) => ({
    index,
    relevance_score: score,
    ...(documents === "all" ? { document: documentAt(call, index) } : {}),
  }));
  const { id, meta } = cohereMembers(json, reply);
  if (call.endpoint.shape === "Cohere") return { id, results, meta };
  const model = member(json, "model");
  const { input, output } = ranking.usage;
  return {
    id,
    object: "list",
    model: typeof model === "string" ? model : call.model,
    usage: { total_tokens: input + output, prompt_tokens: input },
    results,
    meta,
  };
}

interface CohereMembers extends JsonObject {
  readonly id: string;
  readonly meta: JsonObject;
}

/** As the reply has them, else made of what it tells. */
function cohereMembers(json: unknown, { ranking }: RankingReply): CohereMembers {
  const id = member(json, "id");
  const meta = member(json, "meta");
  const { input, output, searches } = ranking.usage;
  return {
    id: typeof id === "string" ? id : newId("rerank-"),
    meta: isObject(meta)
      ? meta
      : {
          api_version: { version: "2" },
          billed_units: { search_units: searches },
          ...(input + output === 0 ? {} : { tokens: { input_tokens: input, output_tokens: output } }),
        },
  };
}

const openBrace = 0x7b;

/** Adds what is missing in front of the reply's own first member; every byte of the reply stays. */
function withCohereMembers(body: Buffer, json: JsonObject, reply: RankingReply): Buffer {
  const { id, meta } = cohereMembers(json, reply);
  let added = "";
  if (json["id"] === undefined) added += `"id":${JSON.stringify(id)},`;
  if (json["meta"] === undefined) added += `"meta":${JSON.stringify(meta)},`;
  if (added === "") return body;
  const start = body.indexOf(openBrace) + 1;
  return Buffer.concat([body.subarray(0, start), Buffer.from(added), body.subarray(start)]);
}

function jsonBytes(value: JsonObject): Buffer {
  return Buffer.from(JSON.stringify(value));
}
