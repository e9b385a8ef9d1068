/**
 * Converts JSON Schemas to the form that `output_config.format` and strict tools accept (docs/design/messages.md 5;
 * docs/design/translation.md 7.2): every object closed, no limits on numbers, lengths and counts.
 *
 * Keywords that the form lacks go into the description, so that the model still reads them.
 */
import { asList, isObject, type JsonObject } from "#proxy/json/json-value";
import { joinObjects } from "#proxy/neutral/schema/join-objects";
import { resolveReference } from "#proxy/neutral/schema/resolve-reference";
import { isSchemaNode, setOwn, subschemas } from "#proxy/neutral/schema/subschemas";
import type { Block } from "./block.ts";

/** Said to nobody but tools. */
const silent: ReadonlySet<string> = new Set([
  "$schema",
  "$id",
  "$comment",
  "$anchor",
  "examples",
  "example",
  "deprecated",
]);
const kept: ReadonlySet<string> = new Set(["type", "required", "enum", "description", "title", "default"]);
const formats: ReadonlySet<string> = new Set([
  "date-time",
  "time",
  "date",
  "duration",
  "email",
  "hostname",
  "uri",
  "ipv4",
  "ipv6",
  "uuid",
]);

/**
 * @returns undefined when a closed schema cannot say the same: recursion, objects whose member names are open, or whose
 * members are said in several places that cannot be joined
 */
export function closeSchema(schema: JsonObject): JsonObject | undefined {
  const joined = isRecursive(schema) ? undefined : joinObjects(schema);
  return joined === undefined || hasOpenMap(joined) ? undefined : closeNode(joined);
}

/** References that lead further than this lead nowhere that a model could follow. */
const depthMax = 256;

function isRecursive(root: JsonObject): boolean {
  const path = new Set<JsonObject>();
  const finished = new Set<JsonObject>();
  const visit = (node: JsonObject): boolean => {
    if (path.has(node) || path.size >= depthMax) return true;
    if (finished.has(node)) return false;
    path.add(node);
    const reference = typeof node["$ref"] === "string" ? resolveReference(root, node["$ref"]) : undefined;
    const isFound =
      subschemas(node).some((child) => isSchemaNode(child) && visit(child)) ||
      (reference !== undefined && visit(reference));
    path.delete(node);
    finished.add(node);
    return isFound;
  };
  return visit(root);
}

/** Closed, such an object would always be empty. */
function hasOpenMap(schema: JsonObject): boolean {
  const { type, properties, additionalProperties: additional } = schema;
  const isObjectType = type === "object" || asList(type).includes("object");
  const hasNames = isObject(properties) && Object.keys(properties).length > 0;
  const isOpen = isSchemaNode(additional) || (!hasNames && additional !== false);
  const refersElsewhere = ["$ref", "anyOf", "oneOf", "allOf"].some((keyword) => schema[keyword] !== undefined);
  // A schema for further members says without a type too that there are some.
  if ((isObjectType || isSchemaNode(additional)) && isOpen && !refersElsewhere) return true;
  return subschemas(schema).some((node) => isSchemaNode(node) && hasOpenMap(node));
}

function closeNode(node: JsonObject): JsonObject {
  if (typeof node["$ref"] === "string") {
    const definitions = closeDefinitions(node);
    return { $ref: node["$ref"], ...definitions };
  }
  const closed: Block = {};
  const remarks: string[] = [];
  for (const [keyword, value] of Object.entries(node)) {
    if (kept.has(keyword)) setOwn(closed, keyword, value);
    else if (!silent.has(keyword) && !closeKeyword(closed, keyword, value)) {
      remarks.push(`{${keyword}: ${JSON.stringify(value)}}`);
    }
  }
  if (closed["type"] === "object" || isObject(closed["properties"])) closed["additionalProperties"] = false;
  if (remarks.length > 0) closed["description"] = [node["description"], ...remarks].filter(isText).join(" ");
  return Array.isArray(closed["type"]) ? splitTypes(closed, closed["type"]) : closed;
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

/** @returns false when the keyword has no place */
function closeKeyword(closed: Block, keyword: string, value: unknown): boolean {
  switch (keyword) {
    case "properties":
    case "$defs":
    case "definitions":
      if (isObject(value)) closed[keyword] = closeMap(value);
      return true;
    case "anyOf":
    case "oneOf":
    case "allOf":
      closed[keyword === "oneOf" ? "anyOf" : keyword] = asList(value).filter(isSchemaNode).map(closeNode);
      return true;
    case "items":
      if (isSchemaNode(value)) closed["items"] = closeNode(value);
      return isSchemaNode(value) || value === true;
    case "const":
      if (isPrimitive(value)) closed["const"] = value;
      return isPrimitive(value);
    case "minItems":
      if (value === 0 || value === 1) closed["minItems"] = value;
      return value === 0 || value === 1;
    case "format":
      if (typeof value === "string" && formats.has(value)) closed["format"] = value;
      return typeof value === "string" && formats.has(value);
    case "additionalProperties":
    case "propertyOrdering":
      return true;
    default:
      return false;
  }
}

function isPrimitive(value: unknown): boolean {
  return value === null || ["string", "number", "boolean"].includes(typeof value);
}

function closeMap(map: JsonObject): Block {
  const closed: Block = {};
  for (const [name, value] of Object.entries(map)) setOwn(closed, name, isSchemaNode(value) ? closeNode(value) : {});
  return closed;
}

/** Definitions may stand beside a reference at the root. */
function closeDefinitions(node: JsonObject): Block {
  const closed: Block = {};
  for (const keyword of ["$defs", "definitions"]) closeIfMap(closed, keyword, node[keyword]);
  return closed;
}

function closeIfMap(closed: Block, keyword: string, value: unknown): void {
  if (isObject(value)) closed[keyword] = closeMap(value);
}

/** `type: ["object", "null"]` as `anyOf`, the object's own keywords with the object. */
function splitTypes(closed: Block, types: readonly unknown[]): JsonObject {
  const { type: _types, title, description, default: fallback, $defs, definitions, ...constraints } = closed;
  if (types.length === 1) return { ...closed, type: types[0] };
  const outer = { title, description, default: fallback, $defs, definitions };
  const said = Object.fromEntries(Object.entries(outer).filter(([, value]) => value !== undefined));
  // An enumeration says by its values which types there are.
  if (constraints["enum"] !== undefined) return { ...said, enum: constraints["enum"] };
  const branches = types.map((type) => (type === "null" ? { type } : { type, ...constraintsOf(type, constraints) }));
  return { ...said, anyOf: branches };
}

const keywordsOf: Readonly<Record<string, readonly string[]>> = {
  object: ["properties", "required", "additionalProperties"],
  array: ["items", "minItems"],
  string: ["format", "const"],
};

function constraintsOf(type: unknown, constraints: JsonObject): Block {
  const names = typeof type === "string" ? (keywordsOf[type] ?? ["const"]) : [];
  const own: Block = {};
  for (const name of names) if (constraints[name] !== undefined) own[name] = constraints[name];
  return own;
}
