/**
 * Joins the objects of a schema that must hold at once, for formats that want each object closed
 * (docs/design/translation.md 7.2): several closed schemas together would each refuse the properties of the others.
 */
import { asList, isObject, type JsonObject } from "#proxy/json/json-value";
import { followReferences } from "./resolve-reference.ts";
import { mergeAllOf } from "./simplify-node.ts";
import { isSchemaNode, mapSubschemas } from "./subschemas.ts";

/** Definitions are inlined where they are joined; small ones that hold each other twice make a schema of any size. */
const nodesMax = 5000;

/** Of these the first one may count: they allow and forbid nothing. */
const annotations: ReadonlySet<string> = new Set([
  "$schema",
  "$id",
  "$anchor",
  "$comment",
  "title",
  "description",
  "default",
  "example",
  "examples",
  "deprecated",
]);

/**
 * @param schema one that does not refer to itself
 * @returns undefined when an object has to be said in several places
 */
export function joinObjects(schema: JsonObject): JsonObject | undefined {
  const joiner = new ObjectJoiner(schema);
  const joined = joiner.join(schema);
  return joiner.isComplete ? joined : undefined;
}

class ObjectJoiner {
  readonly #root: JsonObject;
  /** What was asked once: a definition may stand behind any number of references. */
  readonly #areObjects = new Map<JsonObject, boolean>();
  #inlined = 0;
  isComplete = true;

  constructor(root: JsonObject) {
    this.#root = root;
  }

  join(node: JsonObject, isInlined = false): JsonObject {
    if (isInlined) this.#inlined += 1;
    if (this.#inlined > nodesMax) this.isComplete = false;
    if (!this.isComplete) return {};
    const isMerged = this.#needsMerge(node);
    const merged = isMerged ? this.#merge(node) : node;
    if (this.#needsSeveralPlaces(merged)) this.isComplete = false;
    return mapSubschemas(merged, (child) => this.join(child, isInlined || isMerged));
  }

  #needsMerge(node: JsonObject): boolean {
    // A reference stays alone, so nothing beside it is closed.
    if (typeof node["$ref"] === "string" || !Array.isArray(node["allOf"])) return false;
    const { allOf: branches, ...own } = node;
    return [own, ...branches].filter((part) => this.#isObject(part)).length > 1;
  }

  #merge(node: JsonObject): JsonObject {
    return mergeAllOf(node, (branch) => followReferences(this.#root, branch), {
      property: (first, second) => ({ allOf: [first, second] }),
      keyword: (name) => {
        if (!annotations.has(name)) this.isComplete = false;
      },
    });
  }

  /** Properties that are the alternatives' own, of patterns, or of two lists of alternatives at once. */
  #needsSeveralPlaces(node: JsonObject): boolean {
    if (typeof node["$ref"] === "string") return false;
    const { anyOf, oneOf, patternProperties } = node;
    if (isObject(patternProperties) && Object.keys(patternProperties).length > 0) return true;
    if (anyOf !== undefined && oneOf !== undefined) return true;
    const alternatives = asList(anyOf ?? oneOf);
    return describesObject(node) && alternatives.some((branch) => this.#isObject(branch));
  }

  /** Whether this or something that it refers to, or is made of, will be closed. */
  #isObject(value: unknown): boolean {
    if (!isSchemaNode(value)) return false;
    const node = followReferences(this.#root, value);
    if (node === undefined) return false;
    const known = this.#areObjects.get(node);
    if (known !== undefined) return known;
    const parts = [node["anyOf"], node["oneOf"], node["allOf"]].flatMap(asList);
    const isFound = describesObject(node) || parts.some((part) => this.#isObject(part));
    this.#areObjects.set(node, isFound);
    return isFound;
  }
}

function describesObject({ type, properties }: JsonObject): boolean {
  return type === "object" || asList(type).includes("object") || isObject(properties);
}
