/**
 * Reads members of a client's body under either spelling (docs/design/generate-content.md 2): lowerCamelCase wins,
 * `null` is absent. Each call names the member it wants, so that names which are the user's own (arguments, schemas,
 * labels) are never rewritten.
 */
import { GatewayError } from "#proxy/errors";
import { snakeCase } from "#proxy/formats/generate-content/native/spellings";
import { isObject, type JsonObject } from "#proxy/json/json-value";

/** @returns undefined when it is absent or null */
export function either(object: JsonObject, name: string): unknown {
  return own(object, name) ?? own(object, snakeCase(name));
}

function own(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? (object[name] ?? undefined) : undefined;
}

/** @throws GatewayError `invalid_type` when it is there and no text */
export function textOf(object: JsonObject, name: string, where: string): string | undefined {
  const value = either(object, name);
  if (value === undefined || typeof value === "string") return value;
  throw wrongType(`${where}.${name}`, "a string");
}

/** @throws GatewayError `invalid_type` when it is there and no object */
export function objectOf(object: JsonObject, name: string, where: string): JsonObject | undefined {
  const value = either(object, name);
  if (value === undefined || isObject(value)) return value;
  throw wrongType(path(where, name), "an object");
}

/** @throws GatewayError `invalid_type` when it is there and no list */
export function listOf(object: JsonObject, name: string, where: string): readonly unknown[] | undefined {
  const value = either(object, name);
  if (value === undefined || Array.isArray(value)) return value;
  throw wrongType(path(where, name), "an array");
}

export function path(where: string, name: string): string {
  return where === "" ? name : `${where}.${name}`;
}

export function wrongType(where: string, wanted: string): GatewayError {
  return new GatewayError("invalid_type", `'${where}' must be ${wanted}.`, { param: where });
}

export function wrongValue(where: string, what: string): GatewayError {
  return new GatewayError("invalid_value", `'${where}' ${what}`, { param: where });
}

export function notCarried(where: string): GatewayError {
  const message = `Unsupported parameter: '${where}' is not supported by the selected model.`;
  return new GatewayError("unsupported_parameter", message, { param: where });
}

/**
 * Enums may be numbers in protobuf's JSON; a number without a name stays one that no name is.
 * @param names in the order of their numbers
 */
export function enumName(value: unknown, names: readonly string[]): unknown {
  return typeof value === "number" ? (names[value] ?? String(value)) : value;
}

/** Members that say something and are not among the known, by the client's spelling. */
export function unmappedMembers(object: JsonObject, known: ReadonlySet<string>, where: string): string[] {
  const unmapped: string[] = [];
  for (const [name, value] of Object.entries(object)) {
    if (known.has(camelCase(name)) || isDefault(value)) continue;
    unmapped.push(path(where, name));
  }
  return unmapped;
}

/** `max_output_tokens` as `maxOutputTokens`. */
export function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());
}

/** Null, false, and what is empty are the defaults of protobuf's JSON. */
function isDefault(value: unknown): boolean {
  if (value === null || value === undefined || value === false || value === "") return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}
