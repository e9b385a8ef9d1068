/**
 * Rewrites tool schemas in the draft that vendors check them against (JSON Schema 2020-12): vendors refuse with 400 two
 * older spellings that libraries still write, lists of items and exclusive bounds as flags.
 */
import { isObject, type JsonObject } from "#proxy/json/json-value";
import { isSchemaNode, listKeywords, mapKeywords, schemaKeywords, setOwn } from "./subschemas.ts";

/** The same meaning in the current draft; the same object when nothing in it is old. */
export function currentSchema(schema: JsonObject): JsonObject {
  const inner = withCurrentChildren(schema);
  const hasOldItems = Array.isArray(inner["items"]);
  const hasFlags = typeof inner["exclusiveMinimum"] === "boolean" || typeof inner["exclusiveMaximum"] === "boolean";
  if (!hasOldItems && !hasFlags) return inner;
  const node: Record<string, unknown> = { ...inner };
  if (hasOldItems) renameItems(node);
  moveBound(node, "minimum", "exclusiveMinimum");
  moveBound(node, "maximum", "exclusiveMaximum");
  return node;
}

/** Items by their place are `prefixItems` now; `items` is what may follow them. */
function renameItems(node: Record<string, unknown>): void {
  const { additionalItems: rest } = node;
  node["prefixItems"] = node["items"];
  delete node["items"];
  delete node["additionalItems"];
  if (rest === false || isSchemaNode(rest)) node["items"] = rest;
}

/** A flag beside the bound becomes the bound itself. */
function moveBound(node: Record<string, unknown>, bound: string, exclusive: string): void {
  const flag = node[exclusive];
  if (typeof flag !== "boolean") return;
  delete node[exclusive];
  if (!flag || node[bound] === undefined) return;
  node[exclusive] = node[bound];
  delete node[bound];
}

function withCurrentChildren(schema: JsonObject): JsonObject {
  let changed: Record<string, unknown> | undefined;
  const change = (keyword: string, value: unknown): void => {
    if (value === schema[keyword]) return;
    changed ??= { ...schema };
    setOwn(changed, keyword, value);
  };
  for (const keyword of [...schemaKeywords, ...listKeywords, "additionalItems"]) {
    const value = schema[keyword];
    if (Array.isArray(value)) change(keyword, currentList(value));
    else if (isSchemaNode(value)) change(keyword, currentSchema(value));
  }
  for (const keyword of mapKeywords) {
    const value = schema[keyword];
    if (isObject(value)) change(keyword, currentMap(value));
  }
  return changed ?? schema;
}

function currentList(nodes: readonly unknown[]): readonly unknown[] {
  const current = nodes.map((node) => (isSchemaNode(node) ? currentSchema(node) : node));
  return current.every((node, index) => node === nodes[index]) ? nodes : current;
}

function currentMap(map: JsonObject): JsonObject {
  let changed: Record<string, unknown> | undefined;
  for (const [name, node] of Object.entries(map)) {
    const current = isSchemaNode(node) ? currentSchema(node) : node;
    if (current === node) continue;
    changed ??= { ...map };
    setOwn(changed, name, current);
  }
  return changed ?? map;
}
