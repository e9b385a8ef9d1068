/** Resolves `$ref` inside of one schema: pointers such as `#/$defs/Address`; it fetches nothing. */

import type { JsonObject } from "#proxy/json/json-value";
import { member } from "#proxy/json/json-value";
import { isSchemaNode } from "./subschemas.ts";

/** @returns undefined for a reference to another document, to nothing, or to what is no schema */
export function resolveReference(root: JsonObject, reference: string): JsonObject | undefined {
  if (reference === "#") return root;
  if (!reference.startsWith("#/")) return undefined;
  let current: unknown = root;
  for (const step of reference.slice(2).split("/")) {
    const name = unescapeStep(step);
    if (name === undefined) return undefined;
    current = Array.isArray(current) ? current[Number(name)] : member(current, name);
  }
  return isSchemaNode(current) ? current : undefined;
}

/**
 * What a schema is: where it only refers to another, that one, also where that refers further, as names of types do.
 *
 * @returns undefined where that leads nowhere, or in a circle
 */
export function followReferences(root: JsonObject, node: JsonObject): JsonObject | undefined {
  const passed = new Set<JsonObject>();
  let current: JsonObject | undefined = node;
  while (typeof current?.["$ref"] === "string") {
    if (passed.has(current)) return undefined;
    passed.add(current);
    current = resolveReference(root, current["$ref"]);
  }
  return current;
}

function unescapeStep(step: string): string | undefined {
  try {
    return decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~");
  } catch {
    return undefined;
  }
}
