/**
 * Google's published document as validators: read, never copied. Stricter than it says in one point and as Google's
 * servers are: a request with a member that the document does not know is refused.
 */
import { Ajv2020 } from "ajv/dist/2020.js";
import { isObject } from "#proxy/json/json-value";
import { publishedDocument } from "./published-document.ts";

const schemas = { request: "GenerateContentRequest", reply: "GenerateContentResponse" } as const;

/** Problems of a value, each as `path keyword`; none for a valid one. */
export type ValidateGemini = (kind: keyof typeof schemas, value: unknown) => string[];

/** Undefined where the document is absent, which a suite must say aloud. */
export function publishedGeminiSchemas(): ValidateGemini | undefined {
  const document = publishedDocument("gemini.openapi.json");
  if (document === undefined) return undefined;
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
  ajv.addSchema(Object(asServersRead(document)), "gemini");
  return (kind, value) => {
    const check = ajv.getSchema(`gemini#/components/schemas/${schemas[kind]}`);
    if (check === undefined) throw new Error(`the document has no schema ${schemas[kind]}`);
    if (check(value) === true) return [];
    return (check.errors ?? []).map(
      ({ instancePath, keyword, params }) => `${instancePath} ${keyword} ${JSON.stringify(params)}`,
    );
  };
}

/** Members that replies of Vertex AI have and the SDK reads, which is another document's business. */
const vertexMembers = { blockReason: { blockReasonMessage: { type: "string" } } } as const;

/** Objects are closed, and 64-bit integers may be numbers. */
function asServersRead(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(asServersRead);
  if (!isObject(node)) return node;
  const rest = Object.fromEntries(Object.entries(node).map(([name, value]) => [name, asServersRead(value)]));
  if (node["type"] === "string" && node["format"] === "int64") return { ...rest, type: ["string", "integer"] };
  const { properties } = rest;
  if (node["type"] !== "object" || !isObject(properties) || "additionalProperties" in node) return rest;
  const more = "blockReason" in properties ? vertexMembers.blockReason : {};
  return { ...rest, properties: { ...properties, ...more }, additionalProperties: false };
}
