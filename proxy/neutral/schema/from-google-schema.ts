/**
 * Converts Google's `Schema` to JSON Schema (docs/design/translation.md 7.4), for clients of generateContent whose call
 * goes to a provider of another format. JSON Schema, which such clients also send, stays as it is.
 */

import { parseJsonText } from "#proxy/json/json-text";
import { asList, isObject, type JsonObject } from "#proxy/json/json-value";
import { isSchemaNode, setOwn } from "./subschemas.ts";

/** Enums may be numbers in protobuf's JSON (docs/design/generate-content.md 2). */
const typeByNumber = ["", "string", "number", "integer", "boolean", "array", "object", "null"] as const;

/** Limits are 64-bit integers, which protobuf's JSON writes as strings. */
const limits = new Set([
  "minItems",
  "maxItems",
  "minProperties",
  "maxProperties",
  "minLength",
  "maxLength",
  "minimum",
  "maximum",
]);

/** Members of Google's schema that have another name in snake_case. */
const camelNames: Readonly<Record<string, string>> = {
  any_of: "anyOf",
  min_items: "minItems",
  max_items: "maxItems",
  min_properties: "minProperties",
  max_properties: "maxProperties",
  min_length: "minLength",
  max_length: "maxLength",
  property_ordering: "propertyOrdering",
};

export function fromGoogleSchema(schema: JsonObject): JsonObject {
  const converted: Record<string, unknown> = {};
  for (const [spelled, value] of Object.entries(schema)) {
    if (value === null) continue;
    const keyword = Object.hasOwn(camelNames, spelled) ? (camelNames[spelled] ?? spelled) : spelled;
    addKeyword(converted, keyword, value);
  }
  typeEnum(converted);
  orderProperties(converted, schema["propertyOrdering"] ?? schema["property_ordering"]);
  return schema["nullable"] === true ? nullable(converted) : converted;
}

function addKeyword(converted: JsonObject, keyword: string, value: unknown): void {
  switch (keyword) {
    case "nullable":
    case "propertyOrdering":
      return;
    case "type": {
      const type = typeName(value);
      if (type !== undefined) setOwn(converted, "type", type);
      return;
    }
    case "format":
      if (value !== "enum") setOwn(converted, "format", value);
      return;
    case "example":
      setOwn(converted, "examples", [value]);
      return;
    case "items":
    case "additionalProperties":
      setOwn(converted, keyword, isSchemaNode(value) ? fromGoogleSchema(value) : value);
      return;
    case "anyOf":
    case "oneOf":
    case "allOf":
    case "prefixItems":
      setOwn(
        converted,
        keyword,
        asList(value).map((node) => (isSchemaNode(node) ? fromGoogleSchema(node) : node)),
      );
      return;
    case "properties":
    case "$defs":
    case "definitions":
      setOwn(converted, keyword, convertMap(value));
      return;
    default:
      setOwn(converted, keyword, limits.has(keyword) ? numberOf(value) : value);
  }
}

function convertMap(value: unknown): JsonObject {
  const map: JsonObject = {};
  if (!isObject(value)) return map;
  for (const [name, node] of Object.entries(value)) {
    setOwn(map, name, isSchemaNode(node) ? fromGoogleSchema(node) : node);
  }
  return map;
}

/** @returns undefined for `TYPE_UNSPECIFIED` */
function typeName(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(typeName).filter((type) => type !== undefined);
  const name = typeof value === "number" ? typeByNumber[value] : value;
  if (typeof name !== "string") return undefined;
  return name === "" || name === "TYPE_UNSPECIFIED" ? undefined : name.toLowerCase();
}

function numberOf(value: unknown): unknown {
  return typeof value === "string" && /^-?\d{1,15}$/.test(value) ? Number(value) : value;
}

/**
 * Google's enums are texts whatever their type (docs/design/generate-content.md 3.4): as JSON Schema nothing could be
 * both. Texts that are no value of the type are left out, and an enum of nothing else with them.
 */
function typeEnum(converted: Record<string, unknown>): void {
  const { type, enum: values } = converted;
  const types = asList(typeof type === "string" ? [type] : type).filter((name) => name !== "null");
  const [only] = types;
  if (!Array.isArray(values) || types.length !== 1) return;
  if (only !== "integer" && only !== "number" && only !== "boolean") return;
  const typed = values.flatMap((value) => (typeof value === "string" ? typedValue(value, only) : [value]));
  if (typed.length > 0) setOwn(converted, "enum", typed);
  else delete converted["enum"];
}

/** @returns one value, or none */
function typedValue(text: string, type: "integer" | "number" | "boolean"): readonly unknown[] {
  if (type === "boolean") return text === "true" || text === "false" ? [text === "true"] : [];
  if (!/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text)) return [];
  const value = parseJsonText(text);
  const isWritable = Number.isFinite(Number(text));
  return isWritable && (type === "number" || typeof value !== "number" || Number.isInteger(value)) ? [value] : [];
}

/** JSON Schema has no order but that of its members. */
function orderProperties(converted: JsonObject, ordering: unknown): void {
  const properties = converted["properties"];
  const names = asList(ordering).filter((name) => typeof name === "string");
  if (!isObject(properties) || names.length === 0) return;
  const ordered: JsonObject = {};
  for (const name of [...names, ...Object.keys(properties)]) {
    if (Object.hasOwn(properties, name) && !Object.hasOwn(ordered, name)) setOwn(ordered, name, properties[name]);
  }
  setOwn(converted, "properties", ordered);
}

function nullable(schema: JsonObject): JsonObject {
  const { type, enum: values } = schema;
  const withNull = Array.isArray(values) ? { enum: [...values, null] } : {};
  if (typeof type === "string") return { ...schema, type: [type, "null"], ...withNull };
  if (Array.isArray(schema["anyOf"])) return { ...schema, anyOf: [...schema["anyOf"], { type: "null" }] };
  return schema;
}
