/**
 * Converts JSON Schema to Google's `Schema`, the subset of OpenAPI 3.0 that `parameters` and `responseSchema` accept
 * (docs/design/translation.md 7.3, docs/design/generate-content.md 3.4).
 *
 * The provider refuses anything outside of the subset with 400, so nothing unknown is passed on. References are
 * inlined; a schema that refers to itself, or becomes too large that way, ends in a plain object.
 */
import { asList, isObject, type JsonObject } from "#proxy/json/json-value";
import { followReferences, resolveReference } from "./resolve-reference.ts";
import { inclusiveBounds, listValues, mergeAllOf, withRemark } from "./simplify-node.ts";
import { isSchemaNode, setOwn } from "./subschemas.ts";

/** Small definitions that refer to each other twice make a schema of any size. */
const nodesMax = 5000;
const depthMax = 64;

/** Keywords that mean the same in both and hold no schema. */
const plainKeywords = [
  "title",
  "minItems",
  "maxItems",
  "minProperties",
  "maxProperties",
  "minLength",
  "maxLength",
  "pattern",
] as const;

const formats: Readonly<Record<string, readonly string[]>> = {
  string: ["date-time"],
  number: ["float", "double"],
  integer: ["int32", "int64"],
};

export interface GoogleSchemaOptions {
  /** Names the order of properties, which `responseSchema` needs to write in it. */
  readonly ordersProperties?: boolean | undefined;
}

export function toGoogleSchema(schema: JsonObject, options: GoogleSchemaOptions = {}): JsonObject {
  return new SchemaConverter(schema, options).convert(schema, []);
}

class SchemaConverter {
  readonly #root: JsonObject;
  readonly #ordersProperties: boolean;
  #nodes = 0;

  constructor(root: JsonObject, { ordersProperties = false }: GoogleSchemaOptions) {
    this.#root = root;
    this.#ordersProperties = ordersProperties;
  }

  /** @param open references on the way to this node */
  convert(node: unknown, open: readonly string[]): JsonObject {
    if (!isSchemaNode(node)) return { type: "STRING" };
    this.#nodes += 1;
    if (this.#nodes > nodesMax || open.length > depthMax) return { type: "OBJECT" };
    const reference = node["$ref"];
    if (typeof reference === "string") return this.#convertReference(node, reference, open);
    if (Array.isArray(node["allOf"])) {
      const merged = mergeAllOf(node, (branch) => this.#follow(branch));
      // Branches may bring further references; each round is counted, so the budget ends what never would.
      return this.convert(merged, [...open, "allOf"]);
    }
    const types = asList(node["type"]).filter((type) => typeof type === "string");
    if (types.length > 0)
      return this.#convertUnion(
        node,
        types.map((type) => ({ type })),
        open,
      );
    const branches = node["anyOf"] ?? node["oneOf"];
    if (Array.isArray(branches)) return this.#convertUnion(node, branches, open);
    return this.#convertPlain(node, open);
  }

  #follow(branch: JsonObject): JsonObject | undefined {
    return followReferences(this.#root, branch);
  }

  #convertReference(node: JsonObject, reference: string, open: readonly string[]): JsonObject {
    const { $ref: _reference, $defs: _definitions, definitions: _older, ...own } = node;
    const target = resolveReference(this.#root, reference);
    if (target === undefined) return { type: "OBJECT", ...copyOf(own, ["description"]) };
    if (open.includes(reference)) {
      const remark = `again of the kind ${reference.split("/").at(-1) ?? reference}`;
      return { type: "OBJECT", description: withRemark(own["description"], remark) };
    }
    return this.convert({ ...target, ...own }, [...open, reference]);
  }

  /** Several types or branches: null among them makes the rest nullable, a single other one takes the union's place. */
  #convertUnion(node: JsonObject, branches: readonly unknown[], open: readonly string[]): JsonObject {
    const { type, anyOf: _anyOf, oneOf: _oneOf, ...words } = node;
    const outer: JsonObject = typeof type === "string" ? { ...words, type } : words;
    const others = branches.filter((branch) => !isNullBranch(branch));
    const nullable = others.length < branches.length ? { nullable: true } : {};
    const [only] = others;
    if (others.length === 0 || others.every(isCondition)) return { ...this.#convertPlain(outer, open), ...nullable };
    if (others.length === 1 && isSchemaNode(only)) {
      // Outer words beat inner ones: they were written for this place.
      return { ...this.convert({ ...only, ...outer }, open), ...nullable };
    }
    const { title: _title, description: _description, ...shape } = outer;
    const anyOf = others.map((branch) => {
      if (this.#nodes > nodesMax) return { type: "OBJECT" };
      if (!isSchemaNode(branch) || !(isBareType(branch) || typeof type === "string")) return this.convert(branch, open);
      const reference = branch["$ref"];
      // A branch that is one of the schemas around it would bring its own union, for ever.
      if (typeof reference === "string" && open.includes(reference)) return this.convert(branch, open);
      const inside = [...open, typeof reference === "string" ? reference : "anyOf"];
      return this.convert(
        mergeAllOf({ ...shape, allOf: [branch] }, (followed) => this.#follow(followed)),
        inside,
      );
    });
    return { ...copyOf(outer, ["title", "description"]), anyOf, ...nullable };
  }

  #convertPlain(node: JsonObject, open: readonly string[]): JsonObject {
    const type = typeof node["type"] === "string" ? node["type"].toLowerCase() : inferType(node);
    const converted: JsonObject = {
      type: type === "null" ? "STRING" : type.toUpperCase(),
      ...copyOf(node, plainKeywords),
      ...(typeof node["description"] === "string" ? { description: node["description"] } : {}),
      ...(node["nullable"] === true || type === "null" ? { nullable: true } : {}),
      ...inclusiveBounds({ ...node, type }),
    };
    const format = node["format"];
    if (typeof format === "string" && formats[type]?.includes(format)) setOwn(converted, "format", format);
    this.#addValues(converted, node, type);
    if (type === "object") this.#addProperties(converted, node, open);
    if (type === "array") this.#addItems(converted, node, open);
    return converted;
  }

  /** Google's enums are strings; other values can only be told in words. */
  #addValues(converted: JsonObject, node: JsonObject, type: string): void {
    const values = Object.hasOwn(node, "const") ? [node["const"]] : asList(node["enum"]);
    if (values.length === 0) return;
    if (values.includes(null)) setOwn(converted, "nullable", true);
    const present = values.filter((value) => value !== null && value !== "");
    if (present.length === 0) return;
    if (type === "string" && present.every((value) => typeof value === "string")) setOwn(converted, "enum", present);
    else setOwn(converted, "description", withRemark(node["description"], listValues(present)));
  }

  #addProperties(converted: JsonObject, node: JsonObject, open: readonly string[]): void {
    const source = node["properties"];
    if (!isObject(source)) return;
    const properties: JsonObject = {};
    for (const [name, value] of Object.entries(source)) {
      if (value !== false) setOwn(properties, name, this.convert(value, open));
    }
    const names = Object.keys(properties);
    if (names.length === 0) return;
    setOwn(converted, "properties", properties);
    const required = asList(node["required"]).filter(
      (name) => typeof name === "string" && Object.hasOwn(properties, name),
    );
    if (required.length > 0) setOwn(converted, "required", required);
    if (this.#ordersProperties && names.length > 1) setOwn(converted, "propertyOrdering", names);
  }

  #addItems(converted: JsonObject, node: JsonObject, open: readonly string[]): void {
    const { items } = node;
    const tuple = Array.isArray(items) ? items : asList(node["prefixItems"]);
    if (tuple.length > 0) {
      const entries = tuple.map((entry) => this.convert(entry, open));
      setOwn(converted, "items", entries.length === 1 ? entries[0] : { anyOf: entries });
    } else setOwn(converted, "items", this.convert(items, open));
  }
}

function isNullBranch(branch: unknown): boolean {
  if (!isSchemaNode(branch)) return false;
  if (branch["type"] === "null" || (Object.hasOwn(branch, "const") && branch["const"] === null)) return true;
  const values = branch["enum"];
  return Array.isArray(values) && values.length > 0 && values.every((value) => value === null);
}

/** A branch made of one entry of a type list: the node's other keywords belong to it. */
function isBareType(branch: JsonObject): boolean {
  return Object.keys(branch).length === 1 && typeof branch["type"] === "string";
}

/** A branch that only says which members go together. */
function isCondition(branch: unknown): boolean {
  return isSchemaNode(branch) && Object.keys(branch).every((keyword) => keyword === "required");
}

function inferType(node: JsonObject): string {
  if (isObject(node["properties"]) || isObject(node["additionalProperties"])) return "object";
  if (node["items"] !== undefined || node["prefixItems"] !== undefined) return "array";
  const values = Object.hasOwn(node, "const") ? [node["const"]] : asList(node["enum"]);
  const known = values.filter((value) => value !== null);
  if (known.length > 0 && known.every((value) => typeof value === "number")) {
    return known.every(Number.isInteger) ? "integer" : "number";
  }
  if (known.length > 0 && known.every((value) => typeof value === "boolean")) return "boolean";
  if (["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"].some((keyword) => keyword in node))
    return "number";
  return "string";
}

function copyOf(node: JsonObject, keywords: readonly string[]): JsonObject {
  const copy: JsonObject = {};
  for (const keyword of keywords) if (Object.hasOwn(node, keyword)) setOwn(copy, keyword, node[keyword]);
  return copy;
}
