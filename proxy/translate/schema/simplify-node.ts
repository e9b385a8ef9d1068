/**
 * Rewrites single schema nodes with fewer keywords, for providers whose schemas know only some
 * (`protocols/translation.md` section 7.3, steps 2, 4 and 6).
 */
import { asList, isObject, type JsonObject } from "../../protocols/json-value.ts";
import { isSchemaNode, setOwn } from "./subschemas.ts";

/**
 * All branches of `allOf` in one node: properties and `required` are joined, of other keywords the first one counts,
 * the node's own before its branches'.
 * @param resolve what a branch is, its references followed; undefined leaves it out
 */
export function mergeAllOf(node: JsonObject, resolve: (branch: JsonObject) => JsonObject | undefined): JsonObject {
  const { allOf, ...merged } = node;
  const properties: JsonObject = {};
  const required = new Set<unknown>();
  const take = (branch: JsonObject): void => {
    for (const name of asList(branch["required"])) required.add(name);
    addMissing(properties, branch["properties"]);
  };
  take(node);
  const taken = new Set<JsonObject>();
  for (const branch of asList(allOf).filter(isSchemaNode)) {
    const resolved = resolve(branch);
    // One definition may be referred to any number of times, and says nothing new then.
    if (resolved === undefined || taken.has(resolved)) continue;
    taken.add(resolved);
    take(resolved);
    addMissing(merged, resolved);
  }
  if (required.size > 0) setOwn(merged, "required", [...required]);
  if (Object.keys(properties).length > 0) setOwn(merged, "properties", properties);
  return merged;
}

function addMissing(target: JsonObject, source: unknown): void {
  if (!isObject(source)) return;
  for (const [name, value] of Object.entries(source)) if (!Object.hasOwn(target, name)) setOwn(target, name, value);
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
