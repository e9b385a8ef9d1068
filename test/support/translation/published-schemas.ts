/** The published OpenAPI documents of the responses API as validators: read, never copied, and used without relaxation. */
import { Ajv2020 } from "ajv/dist/2020.js";
import { at, list, text } from "#test/support/digest/facts";
import { publishedDocument } from "./published-document.ts";

export interface PublishedDocument {
  readonly name: string;
  /** Problems of a whole response, each as `path keyword`. */
  response(value: unknown): string[];
  /** Problems of a page of input items. */
  inputList(value: unknown): string[];
  /** Problems of one event; undefined when the document does not know its type. */
  event(value: unknown): string[] | undefined;
}

const documents = [
  { name: "openai", file: "openai.pruned.openapi.json", response: "Response" },
  { name: "openresponses", file: "openresponses.2026-04-24.openapi.json", response: "ResponseResource" },
] as const;

/** Undefined where the documents are absent, which a suite must say aloud. */
export function publishedDocuments(): readonly PublishedDocument[] | undefined {
  const loaded = documents.flatMap(({ name, file, response }) => {
    const document = publishedDocument(file);
    return document === undefined ? [] : [load(name, document, response)];
  });
  return loaded.length === documents.length ? loaded : undefined;
}

function load(name: string, document: object, response: string): PublishedDocument {
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
  ajv.addSchema(document, name);
  const schemas = at(document, "components", "schemas");
  const byType = new Map<string, string>();
  for (const [schema, definition] of Object.entries(typeof schemas === "object" && schemas !== null ? schemas : {})) {
    const type = text(list(at(definition, "properties", "type", "enum"))[0]);
    if (/^(?:Response.*|Error.*)Event$/.test(schema)) byType.set(type, schema);
  }
  const validate = (schema: string, value: unknown): string[] => {
    const check = ajv.getSchema(`${name}#/components/schemas/${schema}`);
    if (check === undefined) throw new Error(`${name} has no schema ${schema}`);
    if (check(value) === true) return [];
    return (check.errors ?? []).map(({ instancePath, keyword, params }) => {
      const missing = text(at(params, "missingProperty"));
      return `${instancePath} ${keyword}${missing === "" ? "" : ` ${missing}`}`;
    });
  };
  return {
    name,
    response: (value) => validate(response, value),
    inputList: (value) => validate("ResponseItemList", value),
    event: (value) => {
      const schema = byType.get(text(at(value, "type")));
      return schema === undefined ? undefined : validate(schema, value);
    },
  };
}
