/**
 * Checks whether a JSON Schema already keeps OpenAI's strict rules: every object closed and all of its properties
 * required (docs/design/translation.md 7.1, docs/design/chat-completions.md 4). Formats that have no such flag may set
 * it only then, and the flag of another format asks less of a schema.
 */
import { asList, isObject, type JsonObject } from "#proxy/json/json-value";
import { isSchemaNode, subschemas } from "./subschemas.ts";

/** Keywords that strict mode refuses. */
const refused = [
  "allOf",
  "oneOf",
  "not",
  "if",
  "dependentRequired",
  "dependentSchemas",
  "patternProperties",
  "propertyNames",
  "unevaluatedProperties",
  "minProperties",
  "maxProperties",
  "uniqueItems",
  "contains",
] as const;

export function isStrictSchema(schema: JsonObject): boolean {
  return schema["type"] === "object" && isStrictNode(schema);
}

/**
 * The flag to write beside a schema for an upstream that refuses the whole call when the schema breaks its rules.
 * @param wanted what the client asked for
 * @param lose told when the upstream will not hold the model to the schema, though the client asked for it
 */
export function strictFlag(wanted: boolean | undefined, schema: JsonObject, lose: () => void): boolean | undefined {
  if (wanted !== true || isStrictSchema(schema)) return wanted;
  lose();
  return false;
}

/** The schema of a function without arguments as strict mode wants it: closed. Any other is left as it is. */
export function closeWithoutArguments(schema: JsonObject): JsonObject {
  const { properties, additionalProperties } = schema;
  const isEmpty = isObject(properties) && Object.keys(properties).length === 0 && additionalProperties === undefined;
  return isEmpty ? { ...schema, additionalProperties: false } : schema;
}

function isStrictNode(schema: JsonObject): boolean {
  if (refused.some((keyword) => Object.hasOwn(schema, keyword))) return false;
  const hasType = ["type", "anyOf", "$ref", "enum", "const"].some((keyword) => Object.hasOwn(schema, keyword));
  if (!hasType || (describesObject(schema) && !isClosed(schema))) return false;
  return subschemas(schema).every((node) => isSchemaNode(node) && isStrictNode(node));
}

function describesObject(schema: JsonObject): boolean {
  const type = schema["type"];
  return type === "object" || (Array.isArray(type) && type.includes("object")) || isObject(schema["properties"]);
}

function isClosed(schema: JsonObject): boolean {
  if (schema["additionalProperties"] !== false) return false;
  const required = new Set(asList(schema["required"]));
  return Object.keys(isObject(schema["properties"]) ? schema["properties"] : {}).every((name) => required.has(name));
}
