/**
 * Reads members of a client's body by their type, and names the client's path when a member has another.
 *
 * `null` counts as absent everywhere, as the API's own schema has it.
 */
import { GatewayError } from "#proxy/errors";
import { isObject, type JsonObject, member } from "#proxy/json/json-value";

/** @throws GatewayError `invalid_type` */
export function wrongType(where: string, wanted: string): never {
  throw new GatewayError("invalid_type", `Invalid type for '${where}': expected ${wanted}.`, { param: where });
}

/** @throws GatewayError `invalid_value` */
export function wrongValue(where: string, reason: string): never {
  throw new GatewayError("invalid_value", `Invalid value for '${where}': ${reason}`, { param: where });
}

/** @throws GatewayError `unsupported_parameter`: what cannot be carried to a provider of another format */
export function notCarried(where: string): never {
  throw new GatewayError("unsupported_parameter", `'${where}' is not supported by the selected model.`, {
    param: where,
  });
}

/** Undefined when absent or null. */
export function present(object: JsonObject, name: string): unknown {
  return member(object, name) ?? undefined;
}

export function optionalText(object: JsonObject, name: string, path: string): string | undefined {
  const value = present(object, name);
  if (value === undefined || typeof value === "string") return value;
  return wrongType(path, "a string");
}

export function requiredText(object: JsonObject, name: string, path: string): string {
  const value = optionalText(object, name, path);
  if (value !== undefined) return value;
  throw new GatewayError("missing_parameter", `Missing required parameter: '${path}'.`, { param: path });
}

export function optionalNumber(object: JsonObject, name: string, path: string): number | undefined {
  const value = present(object, name);
  if (value === undefined || typeof value === "number") return value;
  return wrongType(path, "a number");
}

export function optionalFlag(object: JsonObject, name: string, path: string): boolean | undefined {
  const value = present(object, name);
  if (value === undefined || typeof value === "boolean") return value;
  return wrongType(path, "a boolean");
}

export function optionalObject(object: JsonObject, name: string, path: string): JsonObject | undefined {
  const value = present(object, name);
  if (value === undefined || isObject(value)) return value;
  return wrongType(path, "an object");
}

/** A list, or an empty one when absent. */
export function listOf(object: JsonObject, name: string, path: string): readonly unknown[] {
  const value = present(object, name);
  if (value === undefined) return [];
  return Array.isArray(value) ? value : wrongType(path, "an array");
}
