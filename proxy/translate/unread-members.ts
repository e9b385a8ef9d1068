/** Members inside a client's body that no neutral form has a place for: named as losses, never dropped silently. */
import { asList, isObject, member } from "../protocols/json-value.ts";

/** @returns paths of members that say something and are not among the known; none of what is no object */
export function unreadIn(value: unknown, known: ReadonlySet<string>, where: string): string[] {
  if (!isObject(value)) return [];
  return Object.keys(value).flatMap((name) => (known.has(name) || !says(value[name]) ? [] : [`${where}.${name}`]));
}

/**
 * The same for a client's own tools; those that a provider runs are read elsewhere.
 * @param inner whether a tool is described inside a member named after its type
 */
export function unreadInTools(tools: unknown, known: ReadonlySet<string>, inner: boolean): string[] {
  return asList(tools).flatMap((tool, index) => {
    const type = member(tool, "type") ?? "function";
    if (type !== "function" && type !== "custom") return [];
    const described = inner ? member(tool, type) : undefined;
    const where = `tools[${index}]`;
    return described === undefined ? unreadIn(tool, known, where) : unreadIn(described, known, `${where}.${type}`);
  });
}

/** Absent, null, empty and false are what a member means by default. */
export function says(value: unknown): boolean {
  if (value === undefined || value === null || value === "" || value === false) return false;
  if (Array.isArray(value)) return value.length > 0;
  return !isObject(value) || Object.keys(value).length > 0;
}
