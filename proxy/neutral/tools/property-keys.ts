/**
 * Fits names of arguments for Anthropic, which refuses the whole call otherwise:
 * "tools.0.custom.input_schema.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'". It checks the
 * root of a tool's schema alone.
 *
 * A writer asks here for each schema, then for the arguments of calls in the history, and hands `changed` to the
 * adaptation of the reply, which gives the client its own keys back.
 */
import { asList, isObject, type JsonObject } from "#proxy/json/json-value";
import { isSchemaNode, mapSubschemas, setOwn } from "#proxy/neutral/schema/subschemas";
import { FittedNames, type NameRule } from "./fitted-names.ts";

const rule: NameRule = { valid: /^[a-zA-Z0-9_.-]{1,64}$/, foreign: /[^a-zA-Z0-9_.-]/g, firstValid: /^./ };

/** Keywords that speak of the same object as the schema that they stand in. */
const listsOfSame = ["allOf", "anyOf", "oneOf"] as const;
const sameObject = ["not", "if", "then", "else"] as const;
const mapsByKey = ["properties", "dependentSchemas", "dependentRequired", "dependencies"] as const;
const listsOfKeys = ["required", "propertyOrdering"] as const;

type Rename = (key: string) => string;

export class PropertyKeys {
  /** By the client's name of a tool, its keys that differ: the client's to the upstream's. */
  readonly #tools = new Map<string, ReadonlyMap<string, string>>();

  /** @param schema with an object at its root; the same when its keys are fine */
  fitSchema(tool: string, schema: JsonObject): JsonObject {
    const { properties } = schema;
    const keys = isObject(properties) ? Object.keys(properties) : [];
    if (keys.every((key) => rule.valid.test(key))) return schema;
    const fitted = new FittedNames(rule, keys);
    const upstream = new Map([...fitted.changed].map(([to, from]) => [from, to]));
    this.#tools.set(tool, upstream);
    const rename: Rename = (key) => upstream.get(key) ?? key;
    return moveReferences(withNames(renameKeys(withOwnKeysInside(schema), rename), fitted.changed), rename);
  }

  /** Arguments of an earlier call as the upstream would have them. */
  fitArguments(tool: string, given: JsonObject): JsonObject {
    const upstream = this.#tools.get(tool);
    if (upstream === undefined || !Object.keys(given).some((key) => upstream.has(key))) return given;
    const usedKeys = new Set([...upstream.values(), ...Object.keys(given)]);
    const renamed = new Set(upstream.values());
    // A member that the tool does not declare may have the name that a declared one gets: neither is lost.
    return renameMembers(given, (key) => upstream.get(key) ?? (renamed.has(key) ? freeKey(key, usedKeys) : key));
  }

  /**
   * By the upstream's name of a tool, the upstream's keys to the client's; undefined where none differs.
   * @param nameOf the upstream's name of a tool
   */
  changed(nameOf: (tool: string) => string): ReadonlyMap<string, ReadonlyMap<string, string>> | undefined {
    if (this.#tools.size === 0) return undefined;
    return new Map(
      [...this.#tools].map(([tool, keys]) => [nameOf(tool), new Map([...keys].map(([from, to]) => [to, from]))]),
    );
  }
}

/**
 * A schema that holds itself (`$ref: "#"`) has its own keys inside, for those of the root alone are renamed and given
 * back: what refers to the root gets a definition of it as it was.
 */
function withOwnKeysInside(schema: JsonObject): JsonObject {
  const definitions = isObject(schema["$defs"]) ? schema["$defs"] : {};
  let name = "root";
  while (Object.hasOwn(definitions, name)) name += "_";
  const led = { isFound: false };
  const moved = leadRootTo(schema, `#/$defs/${name}`, led);
  if (!led.isFound) return schema;
  const { $defs: _inner, definitions: _older, $schema: _dialect, ...own } = moved;
  return { ...moved, $defs: { ...(isObject(moved["$defs"]) ? moved["$defs"] : {}), [name]: own } };
}

function leadRootTo(node: JsonObject, place: string, led: { isFound: boolean }): JsonObject {
  const mapped = mapSubschemas(node, (child) => leadRootTo(child, place, led));
  if (node["$ref"] !== "#") return mapped;
  led.isFound = true;
  return { ...mapped, $ref: place };
}

function renameKeys(schema: JsonObject, rename: Rename): JsonObject {
  const renamed: Record<string, unknown> = { ...schema };
  const inner = (value: unknown): unknown => (isSchemaNode(value) ? renameKeys(value, rename) : value);
  for (const keyword of listsOfKeys) {
    if (Array.isArray(schema[keyword])) renamed[keyword] = renameAll(asList(schema[keyword]), rename);
  }
  for (const keyword of mapsByKey) {
    const map = schema[keyword];
    if (!isObject(map)) continue;
    const members = renameMembers(map, rename);
    // A key's own schema is of another object; what depends on a key is of this one.
    renamed[keyword] = keyword === "properties" ? members : mapValues(members, (value) => dependent(value, rename));
  }
  for (const keyword of listsOfSame) {
    if (Array.isArray(schema[keyword])) renamed[keyword] = asList(schema[keyword]).map(inner);
  }
  for (const keyword of sameObject) if (schema[keyword] !== undefined) renamed[keyword] = inner(schema[keyword]);
  return renamed;
}

function dependent(value: unknown, rename: Rename): unknown {
  if (Array.isArray(value)) return renameAll(value, rename);
  return isSchemaNode(value) ? renameKeys(value, rename) : value;
}

function freeKey(key: string, usedKeys: ReadonlySet<string>): string {
  let free = key;
  while (usedKeys.has(free)) free += "_";
  return free;
}

function renameAll(keys: readonly unknown[], rename: Rename): readonly unknown[] {
  return keys.map((key) => (typeof key === "string" ? rename(key) : key));
}

function renameMembers(object: JsonObject, rename: Rename): JsonObject {
  const renamed: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(object)) setOwn(renamed, rename(key), value);
  return renamed;
}

function mapValues(object: JsonObject, change: (value: unknown) => unknown): JsonObject {
  const changed: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(object)) setOwn(changed, key, change(value));
  return changed;
}

/** A key of another alphabet says nothing when it has become underscores: its schema says it then. */
function withNames(schema: JsonObject, changed: ReadonlyMap<string, string>): JsonObject {
  const { properties } = schema;
  if (!isObject(properties)) return schema;
  const named = Object.entries(properties).map(([key, value]) => {
    const own = changed.get(key);
    const isTold =
      own === undefined || /^[\x20-\x7e]+$/.test(own) || !isSchemaNode(value) || value["title"] !== undefined;
    return [key, isTold ? value : { ...value, title: own }] as const;
  });
  const members: Record<string, unknown> = {};
  for (const [key, value] of named) setOwn(members, key, value);
  return { ...schema, properties: members };
}

/** References to a property lead to its new key. */
function moveReferences(node: JsonObject, rename: Rename): JsonObject {
  const mapped = mapSubschemas(node, (child) => moveReferences(child, rename));
  const match = typeof node["$ref"] === "string" ? /^#\/properties\/([^/]*)(.*)$/s.exec(node["$ref"]) : null;
  if (match === null) return mapped;
  const key = decodePointer(match[1] ?? "");
  const renamed = rename(key);
  return renamed === key ? mapped : { ...mapped, $ref: `#/properties/${renamed}${match[2]}` };
}

function decodePointer(token: string): string {
  const text = token.replaceAll("~1", "/").replaceAll("~0", "~");
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
