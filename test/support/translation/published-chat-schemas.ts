/** OpenAI's published document of chat completions as validators: read, never copied, and used without relaxation. */
import { Ajv2020 } from "ajv/dist/2020.js";
import { isObject } from "#proxy/json/json-value";
import { publishedDocument } from "./published-document.ts";

const schemas = {
  request: "CreateChatCompletionRequest",
  body: "CreateChatCompletionResponse",
  chunk: "CreateChatCompletionStreamResponse",
} as const;

/** Problems of a value, each as `path keyword`; none for a valid one. */
export type Validate = (kind: keyof typeof schemas, value: unknown) => string[];

/** Undefined where the document is absent, which a suite must say aloud. */
export function publishedChatSchemas(): Validate | undefined {
  const document = publishedDocument("openai.pruned.openapi.json");
  if (document === undefined) return undefined;
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
  ajv.addSchema(Object(withNull(document)), "openai");
  return (kind, value) => {
    const check = ajv.getSchema(`openai#/components/schemas/${schemas[kind]}`);
    if (check === undefined) throw new Error(`the document has no schema ${schemas[kind]}`);
    if (check(value) === true) return [];
    return (check.errors ?? []).map(({ instancePath, keyword }) => `${instancePath.replace(/\d+/g, "N")} ${keyword}`);
  };
}

/** The document says `nullable` in the words of an older dialect, which says that null is a value as well. */
function withNull(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withNull);
  if (!isObject(node)) return node;
  const { nullable, ...rest } = Object.fromEntries(
    Object.entries(node).map(([name, value]) => [name, withNull(value)]),
  );
  return nullable === true
    ? { anyOf: [rest, { type: "null" }] }
    : { ...rest, ...(nullable === undefined ? {} : { nullable }) };
}
