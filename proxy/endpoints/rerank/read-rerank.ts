/** Reads a call of the rerank endpoints, which Jina's and Cohere's clients write alike (docs/design/rerank.md 4). */
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
import { isObject } from "#proxy/json/json-value";
import { type Hit, readJson, type ScannedObject, scanJsonObject } from "#proxy/json/strict-json";
import type { ProxyLimits } from "#proxy/limits";
import type { CallPath } from "#proxy/neutral/wire";
import type { Spellings } from "#proxy/parameters/member-rules";
import { Documents, type RankedDocument, textOf } from "./documents.ts";

/** Whose form the response has: the path decides. */
export type ResponseShape = "Jina" | "Cohere";

export interface RerankPath extends CallPath {
  readonly shape: ResponseShape;
}

export interface RerankCall extends TextCall {
  readonly endpoint: RerankPath;
  /** What providers read beside each of the documents. */
  readonly query: RankedDocument;
  /** In the client's order, which the indexes of the response refer to. */
  readonly documents: Documents;
  /** Results that the client wants; never more than there are documents. */
  readonly topN: number;
  /** Undefined where the client leaves it to the upstream, or to the path. */
  readonly wantsDocuments: boolean | undefined;
  readonly images: number;
  /** Member that holds an image itself and not its address; undefined where none does. */
  readonly inlineImage: "query" | "documents" | undefined;
}

/** Cohere's bound, the highest of all providers (docs.cohere.com, "Rerank"). */
const documentsMax = 10_000;

const parameters: readonly ParameterRule[] = [
  kindRule("query", "string", "object"),
  integerRule("top_n", 1),
  booleanRule("return_documents"),
];

/** Voyage calls the number of results otherwise, and cutting a flag that others have as an end. */
export const rerankSpellings: Spellings = [
  { names: ["top_n", "top_k"], isAlike: true },
  { names: ["truncate", "truncation"], isAlike: false },
];

const watchedKeys = ["image"];

/** @throws GatewayError `missing_parameter`, `invalid_type`, `invalid_value` */
export function readRerank(bytes: Buffer, endpoint: RerankPath, limits: ProxyLimits): RerankCall {
  const { jsonDepthMax: depthMax, jsonKeysMax: keysMax } = limits;
  const body = scanJsonObject(bytes, { depthMax, keysMax, watch: watchedKeys });
  const model = requireModel(body);
  requireMember(body, "query");
  checkParameters(body, parameters);
  const query = readQuery(body);
  if (textOf(query) === "") throw invalidValue("query", "must not be empty");
  const documents = readDocuments(body);
  const images = body.hits.filter(isImage);
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
    images: images.length,
    inlineImage: inlineImageOf(body, images),
  };
}

function inlineImageOf({ bytes }: ScannedObject, images: readonly Hit[]): RerankCall["inlineImage"] {
  const inline = images.find(({ valueStart }) => bytes.toString("latin1", valueStart, valueStart + 5) !== '"http');
  if (inline === undefined) return undefined;
  return inline.path[0] === "query" ? "query" : "documents";
}

function readQuery(body: ScannedObject): RankedDocument {
  const query = readJson(body, requireMember(body, "query"));
  return isObject(query) ? query : String(query);
}

function readDocuments(body: ScannedObject): Documents {
  requireList(body, "documents");
  const documents = new Documents(body.bytes, requireMember(body, "documents").valueStart);
  if (documents.length > documentsMax) throw invalidValue("documents", `must hold at most ${documentsMax} documents`);
  if (documents.firstOther === undefined) return documents;
  const param = `documents[${documents.firstOther}]`;
  throw new GatewayError("invalid_type", `'${param}' must be a string or an object.`, { param });
}

/** Of a document or of the query: what deeper objects hold is their own. */
function isImage({ path: [name, , ...inner], kind }: Hit): boolean {
  if (kind === "null") return false;
  return name === "documents" ? inner.length === 1 : name === "query" && inner.length === 0;
}

function readChoice(body: ScannedObject, name: string): boolean | undefined {
  const found = presentMember(body, name);
  return found === undefined ? undefined : found.kind === "true";
}
