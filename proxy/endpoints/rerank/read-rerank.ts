/** Reads a call of the rerank endpoints, which Jina's and Cohere's clients write alike. */
import type { TextCall } from "#proxy/endpoints/dialects/text-counter";
import { GatewayError } from "#proxy/errors";
import {
  booleanRule,
  checkParameters,
  integerRule,
  invalidValue,
  kindRule,
  type ParameterRule,
  presentMember,
  readCheckedCount,
  requireList,
  requireMember,
  requireModel,
} from "#proxy/formats/body/parameter-rules";
import { isObject, type JsonObject, member } from "#proxy/json/json-value";
import { readJson, type ScannedObject, scanJsonObject } from "#proxy/json/strict-json";
import type { ProxyLimits } from "#proxy/limits";
import type { CallPath } from "#proxy/neutral/wire";

/** Whose form the response has: the path decides. */
export type ResponseShape = "Jina" | "Cohere";

export interface RerankPath extends CallPath {
  readonly shape: ResponseShape;
}

/** A text, or an object that holds one, or an image. */
export type RankedDocument = string | JsonObject;

export interface RerankCall extends TextCall {
  readonly endpoint: RerankPath;
  /** What providers read beside each of the documents. */
  readonly query: string;
  /** In the client's order, which the indexes of the response refer to. */
  readonly documents: readonly RankedDocument[];
  /** Results that the client wants; never more than there are documents. */
  readonly topN: number;
  /** Undefined where the client leaves it to the upstream, or to the path. */
  readonly wantsDocuments: boolean | undefined;
  readonly images: number;
}

/** Cohere's bound, the highest of all providers (docs.cohere.com, "Rerank"). */
const documentsMax = 10_000;

const parameters: readonly ParameterRule[] = [
  kindRule("query", "string", "object"),
  integerRule("top_n", 1),
  booleanRule("return_documents"),
];

/** @throws GatewayError `missing_parameter`, `invalid_type`, `invalid_value` */
export function readRerank(bytes: Buffer, endpoint: RerankPath, limits: ProxyLimits): RerankCall {
  const body = scanJsonObject(bytes, { depthMax: limits.jsonDepthMax, keysMax: limits.jsonKeysMax });
  const model = requireModel(body);
  requireMember(body, "query");
  checkParameters(body, parameters);
  const query = textOf(readQuery(body));
  if (query === "") throw invalidValue("query", "must not be empty");
  const documents = readDocuments(body);
  return {
    endpoint,
    model,
    stream: false,
    body,
    upstreamObjects: [],
    query,
    documents,
    topN: Math.min(readCheckedCount(body, "top_n") ?? documents.length, documents.length),
    wantsDocuments: readChoice(body, "return_documents"),
    images: documents.reduce((count, document) => count + (member(document, "image") === undefined ? 0 : 1), 0),
  };
}

/** What a text-only upstream reads of a document. */
export function textOf(document: RankedDocument): string {
  if (typeof document === "string") return document;
  const text = member(document, "text");
  return typeof text === "string" ? text : JSON.stringify(document);
}

function readQuery(body: ScannedObject): RankedDocument {
  const query = readJson(body, requireMember(body, "query"));
  return isObject(query) ? query : String(query);
}

function readDocuments(body: ScannedObject): readonly RankedDocument[] {
  requireList(body, "documents");
  const documents: unknown = readJson(body, requireMember(body, "documents"));
  if (!Array.isArray(documents)) throw new TypeError("a required list is an array");
  if (documents.length > documentsMax) throw invalidValue("documents", `must hold at most ${documentsMax} documents`);
  for (const [index, document] of documents.entries()) {
    if (typeof document === "string" || isObject(document)) continue;
    const param = `documents[${index}]`;
    throw new GatewayError("invalid_type", `'${param}' must be a string or an object.`, { param });
  }
  return documents;
}

function readChoice(body: ScannedObject, name: string): boolean | undefined {
  const found = presentMember(body, name);
  return found === undefined ? undefined : found.kind === "true";
}
