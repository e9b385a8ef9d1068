/**
 * Schemas whose root must be a plain object: tool arguments nearly everywhere, answers of some formats
 * (`protocols/translation.md` sections 7.1 and 7.2).
 */
import { asList, isObject, type JsonObject } from "../../protocols/json-value.ts";
import { resolveReference } from "./resolve-reference.ts";
import { isSchemaNode, setOwn } from "./subschemas.ts";

const combinators = ["anyOf", "oneOf", "allOf"] as const;

/** Arguments of a tool that has none. */
const noArguments: JsonObject = { type: "object", properties: {} };

/** The schema of a tool's arguments with `type: "object"` and no combinator at its root; the same object when it is so. */
export function objectRoot(schema: JsonObject | undefined): JsonObject {
  if (schema === undefined || Object.keys(schema).length === 0) return noArguments;
  const combinator = combinators.find((keyword) => Array.isArray(schema[keyword]));
  if (combinator === undefined) {
    return schema["type"] === "object" ? schema : { ...schema, type: "object" };
  }
  return mergeBranches(schema, combinator);
}

/** Whether the root says that the value is an object. */
export function hasObjectRoot(schema: JsonObject): boolean {
  return schema["type"] === "object" && combinators.every((keyword) => schema[keyword] === undefined);
}

/** Member that holds an answer whose schema is no object, and its words. */
export const wrappedMember = "value";

/** A schema of an object with one required member of the given schema. Definitions move to the new root. */
export function wrapInObject(schema: JsonObject): JsonObject {
  const { $defs, definitions, $schema: _dialect, ...inner } = schema;
  return {
    type: "object",
    properties: { [wrappedMember]: inner },
    required: [wrappedMember],
    additionalProperties: false,
    ...($defs === undefined ? {} : { $defs }),
    ...(definitions === undefined ? {} : { definitions }),
  };
}

/**
 * One object out of several: the union of their properties; required is what all branches require (of `allOf`: what any
 * does). A wider schema than the client's, which no root without combinators can say.
 */
function mergeBranches(schema: JsonObject, combinator: (typeof combinators)[number]): JsonObject {
  const { [combinator]: branches, properties, required, ...rest } = schema;
  const merged: JsonObject = {};
  const wantedBy = new Map<unknown, number>();
  /** One definition may be referred to any number of times. */
  const taken = new Set<unknown>();
  let objects = 0;
  for (const listed of asList(branches).filter(isSchemaNode)) {
    const reference = listed["$ref"];
    const branch = (typeof reference === "string" && resolveReference(schema, reference)) || listed;
    if (taken.has(branch)) continue;
    taken.add(branch);
    objects += 1;
    copyProperties(merged, branch["properties"]);
    for (const name of new Set(asList(branch["required"]))) wantedBy.set(name, (wantedBy.get(name) ?? 0) + 1);
  }
  const votes = combinator === "allOf" ? 1 : objects;
  const needed = [...wantedBy].flatMap(([name, count]) => (count >= votes ? [name] : []));
  copyProperties(merged, properties);
  const all = [...new Set([...asList(required), ...needed])];
  const root: JsonObject = {
    ...rest,
    type: "object",
    properties: merged,
    ...(all.length === 0 ? {} : { required: all }),
  };
  return combinators.some((keyword) => Array.isArray(root[keyword])) ? objectRoot(root) : root;
}

function copyProperties(target: JsonObject, properties: unknown): void {
  if (!isObject(properties)) return;
  for (const [name, value] of Object.entries(properties)) setOwn(target, name, value);
}
