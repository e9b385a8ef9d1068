/**
 * Reduces JSON Schema to what `parametersJsonSchema` and `responseJsonSchema` accept
 * (docs/design/generate-content.md 3.4). Models that know these members get schemas this way, because references,
 * unions and closed objects survive.
 *
 * A schema that keeps to the subset stays equal.
 */
import { asList, isObject, type JsonObject } from "#proxy/json/json-value";
import { followReferences } from "./resolve-reference.ts";
import { inclusiveBounds, listValues, mergeAllOf, withRemark } from "./simplify-node.ts";
import { isSchemaNode, setOwn } from "./subschemas.ts";

/** Keywords that hold no schema. */
const plainKeywords = new Set([
  "$id",
  "$anchor",
  "type",
  "format",
  "title",
  "description",
  "minItems",
  "maxItems",
  "required",
  "propertyOrdering",
]);

/** Definitions joined with others may hold themselves, one in another to no end. */
const openMergesMax = 16;
/** What joined definitions hold stands there again each time; two that hold each other twice make a schema of any size. */
const inlinedMax = 20_000;

export function toGoogleJsonSchema(schema: JsonObject): JsonObject {
  return new SchemaLimiter(schema).limit(schema);
}

class SchemaLimiter {
  readonly #root: JsonObject;
  #openMerges = 0;
  #inlined = 0;

  constructor(root: JsonObject) {
    this.#root = root;
  }

  limit(node: JsonObject): JsonObject {
    if (this.#openMerges > 0) this.#inlined += 1;
    const reference = referenceOf(node);
    // A reference takes no words beside it; the root keeps the definitions it points to.
    if (reference !== undefined) return { ...this.#definitions(node), $ref: movedReference(reference) };
    if (Array.isArray(node["allOf"])) return this.#limitAllOf(node, node["allOf"]);
    const limited: JsonObject = {};
    for (const [keyword, value] of Object.entries(node)) this.#addKeyword(limited, keyword, value, node);
    if (canBeNull(node)) addNull(limited);
    return limited;
  }

  #limitAllOf(node: JsonObject, branches: readonly unknown[]): JsonObject {
    const { allOf: _allOf, ...own } = node;
    const [only] = branches;
    const hasOwnShape = ["properties", "items", "type", "enum", "anyOf", "oneOf"].some((keyword) => keyword in own);
    if (branches.length === 1 && isSchemaNode(only) && referenceOf(only) !== undefined && !hasOwnShape) {
      return this.limit({ ...own, ...only });
    }
    if (this.#openMerges >= openMergesMax || this.#inlined > inlinedMax) return { type: "object" };
    this.#openMerges += 1;
    const limited = this.limit(mergeAllOf(node, (branch) => followReferences(this.#root, branch)));
    this.#openMerges -= 1;
    return limited;
  }

  #addKeyword(limited: JsonObject, keyword: string, value: unknown, node: JsonObject): void {
    if (plainKeywords.has(keyword)) {
      // A remark about values may already stand there.
      if (!(keyword === "description" && Object.hasOwn(limited, keyword))) setOwn(limited, keyword, value);
      return;
    }
    switch (keyword) {
      case "minimum":
      case "maximum":
      case "exclusiveMinimum":
      case "exclusiveMaximum":
        for (const [bound, inclusive] of Object.entries(inclusiveBounds(node))) setOwn(limited, bound, inclusive);
        return;
      case "enum":
        addValues(limited, asList(value), node);
        return;
      case "const":
        addValues(limited, [value], node);
        return;
      case "items":
        if (Array.isArray(value)) setOwn(limited, "prefixItems", this.#limitAll(value));
        else if (isSchemaNode(value)) setOwn(limited, "items", this.limit(value));
        return;
      case "prefixItems":
      case "anyOf":
      case "oneOf":
        setOwn(limited, keyword, this.#limitAll(asList(value)));
        return;
      case "properties":
        if (isObject(value)) setOwn(limited, keyword, this.#limitMap(value));
        return;
      case "additionalProperties":
        if (typeof value === "boolean") setOwn(limited, keyword, value);
        else if (isSchemaNode(value)) setOwn(limited, keyword, this.limit(value));
        return;
      case "$defs":
      case "definitions":
        if (isObject(value)) setOwn(limited, "$defs", { ...asMap(limited["$defs"]), ...this.#limitMap(value) });
        return;
      default:
    }
  }

  #limitAll(nodes: readonly unknown[]): JsonObject[] {
    return nodes.filter((node) => node !== false).map((node) => (isSchemaNode(node) ? this.limit(node) : {}));
  }

  #limitMap(map: JsonObject): JsonObject {
    const limited: JsonObject = {};
    for (const [name, node] of Object.entries(map)) {
      if (node !== false) setOwn(limited, name, isSchemaNode(node) ? this.limit(node) : {});
    }
    return limited;
  }

  #definitions(node: JsonObject): JsonObject {
    const kept: JsonObject = {};
    for (const keyword of ["$defs", "definitions"]) {
      if (Object.hasOwn(node, keyword)) this.#addKeyword(kept, keyword, node[keyword], node);
    }
    return kept;
  }
}

function referenceOf(node: JsonObject): string | undefined {
  return typeof node["$ref"] === "string" ? node["$ref"] : undefined;
}

function movedReference(reference: string): string {
  return reference.replace(/^#\/definitions\//, "#/$defs/");
}

/** Enums hold strings and numbers; other values are told in words, and null becomes a type. */
function addValues(limited: JsonObject, values: readonly unknown[], node: JsonObject): void {
  const kept = values.filter((value) => typeof value === "string" || typeof value === "number");
  const isComplete = kept.length === values.filter((value) => value !== null).length;
  if (isComplete && kept.length > 0) setOwn(limited, "enum", kept);
  else if (!isComplete) setOwn(limited, "description", withRemark(node["description"], listValues(values)));
  else if (values.length > 0 && node["type"] === undefined) setOwn(limited, "type", "null");
}

function canBeNull(node: JsonObject): boolean {
  const values = Object.hasOwn(node, "const") ? [node["const"]] : asList(node["enum"]);
  return node["nullable"] === true || values.includes(null);
}

/** Null as a type; where nothing else says one, the values of an enumeration do. */
function addNull(limited: JsonObject): void {
  const { type, enum: values, anyOf, oneOf } = limited;
  const types = typeof type === "string" ? [type] : asList(type);
  if (types.includes("null")) return;
  if (types.length > 0) setOwn(limited, "type", [...types, "null"]);
  else if (Array.isArray(anyOf)) setOwn(limited, "anyOf", [...anyOf, { type: "null" }]);
  else if (Array.isArray(oneOf)) setOwn(limited, "oneOf", [...oneOf, { type: "null" }]);
  else if (Array.isArray(values)) setOwn(limited, "type", [...new Set(values.map((value) => typeof value)), "null"]);
}

function asMap(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}
