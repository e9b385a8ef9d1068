/**
 * Rewrites schemas whose root must be a plain object: tool arguments nearly everywhere, structured output of some
 * formats (docs/design/translation.md 7.1 and 7.2).
 */
import { asList, isObject, type JsonObject } from "#proxy/json/json-value";
import { followReferences, resolveReference } from "./resolve-reference.ts";
import { isSchemaNode, mapSubschemas, setOwn } from "./subschemas.ts";

const combinators = ["anyOf", "oneOf", "allOf"] as const;

/** Of two schemas for one value both count. */
const constraints = [...combinators, "properties", "required", "additionalProperties"] as const;

type Combinator = (typeof combinators)[number];

/** Arguments of a tool that has none. */
const noArguments: JsonObject = { type: "object", properties: {} };

/**
 * Branches with branches of their own, and references to references: small definitions that hold each other twice have any
 * number.
 */
const nestedMax = 64;

/**
 * The schema of a tool's arguments with `type: "object"` and neither combinator nor reference at its root; the same object
 * when it is so.
 */
export function objectRoot(schema: JsonObject | undefined): JsonObject {
  if (schema === undefined || Object.keys(schema).length === 0) return noArguments;
  return new RootFlattener(schema).flatten(schema);
}

/** Whether the root says that the value is an object. */
export function hasObjectRoot(schema: JsonObject): boolean {
  return schema["type"] === "object" && combinators.every((keyword) => schema[keyword] === undefined);
}

/** Member that holds an output whose schema is not an object, and its description. */
export const wrappedMember = "value";

/** A schema of an object with one required member of the given schema. Definitions move to the new root. */
export function wrapInObject(schema: JsonObject): JsonObject {
  const name = freeDefinition(schema["$defs"]);
  const moved = { found: false };
  const { $defs, definitions, $schema: _dialect, ...inner } = moveReferences(schema, `#/$defs/${name}`, moved);
  const kept = isObject($defs) ? $defs : {};
  // What refers to the root means the schema, which has another place now.
  const held = moved.found ? { ...kept, [name]: inner } : $defs;
  return {
    type: "object",
    properties: { [wrappedMember]: moved.found ? { $ref: `#/$defs/${name}` } : inner },
    required: [wrappedMember],
    additionalProperties: false,
    ...(held === undefined ? {} : { $defs: held }),
    ...(definitions === undefined ? {} : { definitions }),
  };
}

function freeDefinition(definitions: unknown): string {
  let name: string = wrappedMember;
  while (isObject(definitions) && Object.hasOwn(definitions, name)) name += "_";
  return name;
}

/** References to the root, or to anything in it but definitions, lead to another place. */
function moveReferences(node: JsonObject, place: string, moved: { found: boolean }): JsonObject {
  const mapped = mapSubschemas(node, (child) => moveReferences(child, place, moved));
  const reference = node["$ref"];
  if (typeof reference !== "string" || !/^#(?:$|\/(?!\$defs\/|definitions\/))/.test(reference)) return mapped;
  moved.found = true;
  return { ...mapped, $ref: `${place}${reference.slice(1)}` };
}

/**
 * One object out of several: the union of their properties; required is what all branches require (of `allOf`: what any
 * does). A wider schema than the client's, which no root without combinators can say.
 */
class RootFlattener {
  readonly #root: JsonObject;
  /** Nodes on the way to this one: a definition may be made of itself. */
  readonly #open = new Set<JsonObject>();
  #nested = 0;

  constructor(root: JsonObject) {
    this.#root = root;
  }

  flatten(referring: JsonObject): JsonObject {
    const schema = this.#followed(referring);
    const combinator = combinators.find((keyword) => Array.isArray(schema[keyword]));
    if (combinator === undefined) return schema["type"] === "object" ? schema : { ...schema, type: "object" };
    this.#open.add(schema);
    const flat = this.#mergeBranches(schema, combinator);
    this.#open.delete(schema);
    // A root may have several combinators.
    return this.flatten(flat);
  }

  /** What a reference means in its place; the same schema where it leads nowhere. */
  #followed(schema: JsonObject): JsonObject {
    if (typeof schema["$ref"] !== "string") return schema;
    const seen = new Set([schema]);
    const { $ref: first, ...beside } = schema;
    let said: JsonObject = beside;
    let reference: unknown = first;
    while (typeof reference === "string") {
      const target = resolveReference(this.#root, reference);
      if (target === undefined || seen.has(target) || seen.size > nestedMax) return schema;
      seen.add(target);
      const { $ref: next, ...meant } = target;
      said = both(meant, said);
      reference = next;
    }
    return said;
  }

  #mergeBranches(schema: JsonObject, combinator: Combinator): JsonObject {
    const { [combinator]: branches, properties, required, ...rest } = schema;
    const merged = new PropertySchemas();
    const wantedBy = new Map<unknown, number>();
    let objects = 0;
    for (const branch of this.#objectsOf(asList(branches))) {
      objects += 1;
      merged.add(branch["properties"]);
      for (const name of new Set(asList(branch["required"]))) wantedBy.set(name, (wantedBy.get(name) ?? 0) + 1);
    }
    const votes = combinator === "allOf" ? 1 : objects;
    const needed = [...wantedBy].flatMap(([name, count]) => (count >= votes ? [name] : []));
    const both = new PropertySchemas();
    both.add(merged.joined(combinator === "allOf" ? "allOf" : "anyOf"));
    // What the object says itself holds beside every branch.
    both.add(properties);
    const all = [...new Set([...asList(required), ...needed])];
    return {
      ...rest,
      type: "object",
      properties: both.joined("allOf"),
      ...(all.length === 0 ? {} : { required: all }),
    };
  }

  /** The branches that arguments can be, references followed and their own combinators flattened. */
  #objectsOf(branches: readonly unknown[]): JsonObject[] {
    const objects: JsonObject[] = [];
    /** One definition may be referred to any number of times. */
    const visited = new Set<JsonObject>();
    for (const listed of branches.filter(isSchemaNode)) {
      const branch = followReferences(this.#root, listed) ?? listed;
      const { type } = branch;
      const isOther = type !== undefined && type !== "object" && !asList(type).includes("object");
      if (isOther || visited.has(branch) || this.#open.has(branch)) continue;
      visited.add(branch);
      if (combinators.some((keyword) => Array.isArray(branch[keyword]))) this.#nested += 1;
      objects.push(this.#nested > nestedMax ? branch : this.flatten(branch));
    }
    return objects;
  }
}

/** What a reference means, and what stands beside it: the annotations and definitions of the latter count. */
function both(meant: JsonObject, beside: JsonObject): JsonObject {
  const isSaidTwice = constraints.some((keyword) => meant[keyword] !== undefined && beside[keyword] !== undefined);
  return isSaidTwice ? { ...beside, allOf: [...asList(beside["allOf"]), meant] } : { ...meant, ...beside };
}

/** The different schemas of each property. */
class PropertySchemas {
  readonly #known = new Map<string, { readonly schemas: unknown[]; readonly texts: Set<string> }>();

  add(properties: unknown): void {
    if (!isObject(properties)) return;
    for (const [name, schema] of Object.entries(properties)) {
      const known = this.#known.get(name);
      if (known === undefined) this.#known.set(name, { schemas: [schema], texts: new Set() });
      else {
        // By their text: comparing each with all would take the square of their number. Most names come once.
        if (known.texts.size === 0) known.texts.add(JSON.stringify(known.schemas[0]));
        const text = JSON.stringify(schema);
        if (!known.texts.has(text)) known.schemas.push(schema);
        known.texts.add(text);
      }
    }
  }

  joined(combinator: "anyOf" | "allOf"): JsonObject {
    const properties: JsonObject = {};
    for (const [name, { schemas }] of this.#known) {
      setOwn(properties, name, schemas.length === 1 ? schemas[0] : { [combinator]: schemas });
    }
    return properties;
  }
}
