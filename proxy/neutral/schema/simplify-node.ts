/**
 * Rewrites single schema nodes with fewer keywords, for providers whose schemas know only some
 * (docs/design/translation.md 7.3).
 */
import { isDeepStrictEqual } from "node:util";
import { asList, isObject, type JsonObject } from "#proxy/json/json-value";
import { isSchemaNode, setOwn } from "./subschemas.ts";

/** Told of what the first of two schemas hides of the second. */
export interface Clashes {
  /** One property of two schemas: what stands for both. */
  property(first: unknown, second: unknown): unknown;
  /** A keyword that has another value in the second. */
  keyword(name: string): void;
}

/**
 * All branches of `allOf` in one node, those of branches too: properties and `required` are joined, of other keywords
 * and of one property twice the first one counts, the node's own before its branches'.
 * @param resolve what a branch is, its references followed; undefined leaves it out
 */
export function mergeAllOf(
  node: JsonObject,
  resolve: (branch: JsonObject) => JsonObject | undefined,
  clashes?: Clashes,
): JsonObject {
  const { allOf, ...merged } = node;
  const properties: JsonObject = {};
  const required = new Set<unknown>(asList(node["required"]));
  addMissing(properties, node["properties"]);
  const visited = new Set<JsonObject>([node]);
  // Grows while it is read: a chain of definitions may be longer than the stack.
  const branches = asList(allOf).filter(isSchemaNode);
  for (const branch of branches) {
    const resolved = resolve(branch);
    // One definition may be referred to any number of times, by itself as well, and says nothing new then.
    if (resolved === undefined || visited.has(resolved)) continue;
    visited.add(resolved);
    const { allOf: inner, properties: named, required: needed, ...rest } = resolved;
    for (const name of asList(needed)) required.add(name);
    addMissing(properties, named, (name, first, second) => {
      if (clashes !== undefined) setOwn(properties, name, clashes.property(first, second));
    });
    addMissing(merged, rest, (keyword) => clashes?.keyword(keyword));
    for (const next of asList(inner)) if (isSchemaNode(next)) branches.push(next);
  }
  if (required.size > 0) setOwn(merged, "required", [...required]);
  if (Object.keys(properties).length > 0) setOwn(merged, "properties", properties);
  return merged;
}

/** @param clash told of each other value of a name that is taken */
function addMissing(
  target: JsonObject,
  source: unknown,
  clash?: (name: string, first: unknown, second: unknown) => void,
): void {
  if (!isObject(source)) return;
  for (const [name, value] of Object.entries(source)) {
    if (!Object.hasOwn(target, name)) setOwn(target, name, value);
    else if (clash !== undefined && !isDeepStrictEqual(target[name], value)) clash(name, target[name], value);
  }
}

/**
 * Exclusive bounds as inclusive ones: exact for integers, one value wider for other numbers. The older spelling, a
 * boolean beside the bound, is read too.
 */
export function inclusiveBounds(node: JsonObject): { readonly minimum?: unknown; readonly maximum?: unknown } {
  const minimum = inclusive(node, "minimum", "exclusiveMinimum", 1);
  const maximum = inclusive(node, "maximum", "exclusiveMaximum", -1);
  return { ...(minimum === undefined ? {} : { minimum }), ...(maximum === undefined ? {} : { maximum }) };
}

function inclusive(node: JsonObject, bound: string, exclusiveBound: string, step: 1 | -1): unknown {
  const value = node[bound];
  const exclusive = node[exclusiveBound];
  const move = node["type"] === "integer" ? step : 0;
  if (exclusive === true) return typeof value === "number" ? value + move : value;
  if (typeof exclusive !== "number") return value;
  const moved = exclusive + move;
  if (typeof value !== "number") return moved;
  return step > 0 ? Math.max(value, moved) : Math.min(value, moved);
}

/** The description with a remark for the model, for what a keyword can no longer say. */
export function withRemark(description: unknown, remark: string): string {
  return typeof description === "string" && description !== "" ? `${description} (${remark})` : remark;
}

/** Values for people: `one of 1, 2, true`. */
export function listValues(values: readonly unknown[]): string {
  return `one of ${values.map((value) => JSON.stringify(value)).join(", ")}`;
}
