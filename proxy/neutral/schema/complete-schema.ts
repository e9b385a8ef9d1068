/**
 * Adds to a schema what OpenAI's check requires and other providers do not (docs/design/translation.md 7): "object
 * schema missing properties" at the root, "array schema missing items" anywhere, and "schema must have type 'object'
 * and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level".
 *
 * The completed schema allows all that the given one allowed, so every server of the format may get it.
 */
import { asList, isObject, type JsonObject } from "#proxy/json/json-value";
import { currentSchema } from "./current-schema.ts";
import { objectRoot } from "./object-root.ts";
import { closeWithoutArguments } from "./strict-schema.ts";
import { isSchemaNode, mapSubschemas, setOwn } from "./subschemas.ts";

/** Keywords that the root of a tool's arguments must not have, beside those that `objectRoot` rewrites. */
const refusedAtRoot = ["enum", "not", "const"] as const;

/** Whether the root, though it is an object, has what is refused there. */
export function hasRefusedRoot(schema: JsonObject): boolean {
  return refusedAtRoot.some((keyword) => schema[keyword] !== undefined);
}

export interface ToolSchemaOptions {
  /** The target refuses schemas that break its rules: keywords are taken out, and older spellings replaced. */
  readonly isChecked: boolean;
  /** Arguments must keep to the schema. */
  readonly isStrict: boolean;
  /** Told of each keyword at the root that is left out. */
  readonly lose: (keyword: string) => void;
}

/** The schema of a tool's arguments. */
export function toolSchema(
  schema: JsonObject | undefined,
  { isChecked, isStrict, lose }: ToolSchemaOptions,
): JsonObject {
  const root = objectRoot(schema);
  if (!isChecked) return completeSchema(isStrict ? closeWithoutArguments(root) : root);
  const kept: Record<string, unknown> = { ...root };
  for (const keyword of refusedAtRoot) {
    if (kept[keyword] === undefined) continue;
    delete kept[keyword];
    lose(keyword);
  }
  const current = currentSchema(kept);
  // An object of any members is no function without arguments, though it will have no properties either.
  return completeSchema(isStrict ? closeWithoutArguments(current) : current);
}

/** A schema whose root says that it is an object, with `properties` there and `items` in each array. */
export function completeSchema(root: JsonObject): JsonObject {
  const whole = withItems(root);
  return isObject(whole["properties"]) ? whole : { ...whole, properties: {} };
}

function withItems(schema: JsonObject): JsonObject {
  const { type } = schema;
  const isArray = type === "array" || asList(type).includes("array");
  const mapped = withConditions(mapSubschemas(schema, withItems));
  return isArray && schema["items"] === undefined ? { ...mapped, items: {} } : mapped;
}

/** Conditions are of no account for other rules on schemas; an array in one wants its `items` all the same. */
function withConditions(schema: JsonObject): JsonObject {
  const found = ["if", "then", "else"].filter((keyword) => isSchemaNode(schema[keyword]));
  const { dependentSchemas } = schema;
  if (found.length === 0 && !isObject(dependentSchemas)) return schema;
  const whole: Record<string, unknown> = { ...schema };
  const complete = (value: unknown): unknown => (isSchemaNode(value) ? withItems(value) : value);
  for (const keyword of found) whole[keyword] = complete(schema[keyword]);
  if (isObject(dependentSchemas)) {
    const dependent: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(dependentSchemas)) setOwn(dependent, key, complete(value));
    whole["dependentSchemas"] = dependent;
  }
  return whole;
}
