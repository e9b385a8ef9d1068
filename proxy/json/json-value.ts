/** Reads JSON of unknown shape: never throws, never reads an inherited member. */
import { isTooDeep } from "./json-depth.ts";

export type JsonObject = { readonly [name: string]: unknown };

/** Parses JSON; undefined when it is none, or has more levels than anybody needs. */
export function parseJson(text: string): unknown {
  try {
    return isTooDeep(text) ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The value as an object that is no array, else undefined. */
export function asObject(value: unknown): JsonObject | undefined {
  return isObject(value) ? value : undefined;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** An own member of an object; undefined for everything else. */
export function member(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** Follows own members by name. */
export function memberAt(value: unknown, ...names: readonly string[]): unknown {
  let current = value;
  for (const name of names) current = member(current, name);
  return current;
}

/** A list, or an empty one for everything else. */
export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A text, or an empty one for everything else. */
export function asText(value: unknown): string {
  return typeof value === "string" ? value : "";
}
