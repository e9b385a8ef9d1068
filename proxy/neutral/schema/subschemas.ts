/**
 * Finds the places where a JSON Schema holds further schemas. Rules about keywords apply to these places alone: a
 * property named `format` or `$id`, and everything in `default`, `const`, `enum` or `examples`, is the user's own
 * (pitfall 68).
 */
import { asList, isObject, type JsonObject } from "#proxy/json/json-value";

/** Keywords whose value is one schema. */
export const schemaKeywords = ["items", "additionalProperties", "contains", "propertyNames", "not"] as const;
/** Keywords whose value is a list of schemas. */
export const listKeywords = ["anyOf", "oneOf", "allOf", "prefixItems"] as const;
/** Keywords whose value is a map of schemas by names that are the user's. */
export const mapKeywords = ["properties", "patternProperties", "$defs", "definitions"] as const;

/** An object that can be a schema; numbers kept as source text are objects too, but none. */
export function isSchemaNode(value: unknown): value is JsonObject {
  return isObject(value) && !isRawNumber(value);
}

/** Integers beyond what a double holds are kept as their source text (`json-text.ts`). */
export function isRawNumber(value: JsonObject): boolean {
  return Object.isFrozen(value) && Object.getPrototypeOf(value) === null && Object.hasOwn(value, "rawJSON");
}

/** The schemas directly inside a schema, booleans left out. */
export function subschemas(schema: JsonObject): readonly unknown[] {
  const found: unknown[] = [];
  // One at a time: a list of the client's is too long for the arguments of one call.
  for (const keyword of schemaKeywords) {
    const value = schema[keyword];
    if (Array.isArray(value)) for (const item of value) found.push(item);
    else if (value !== undefined && typeof value !== "boolean") found.push(value);
  }
  for (const keyword of listKeywords) for (const item of asList(schema[keyword])) found.push(item);
  for (const keyword of mapKeywords) {
    const map = schema[keyword];
    if (isObject(map)) for (const item of Object.values(map)) found.push(item);
  }
  return found.filter((value) => typeof value !== "boolean");
}

/** The schema with each of the schemas directly inside it changed. */
export function mapSubschemas(schema: JsonObject, change: (node: JsonObject) => JsonObject): JsonObject {
  const mapped: Record<string, unknown> = { ...schema };
  const changed = (value: unknown): unknown => (isSchemaNode(value) ? change(value) : value);
  for (const keyword of [...schemaKeywords, ...listKeywords]) {
    const value = schema[keyword];
    if (value !== undefined) mapped[keyword] = Array.isArray(value) ? value.map(changed) : changed(value);
  }
  for (const keyword of mapKeywords) {
    const map = schema[keyword];
    if (!isObject(map)) continue;
    const copy: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(map)) setOwn(copy, name, changed(value));
    mapped[keyword] = copy;
  }
  return mapped;
}

/** Sets a member that may have any name: `__proto__` too is a name here and no prototype. */
export function setOwn(target: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== "__proto__") target[name] = value;
  else Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
}
