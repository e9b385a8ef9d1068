/**
 * Edits members of objects of unknown shape: keeps them, leaves them out, or merges them piece by piece, whatever their
 * names are.
 *
 * An aggregation owns the events that were parsed for it, so it changes its object in place: a copy for each event
 * would cost the square of a long reply.
 */
import { isObject, type JsonObject } from "#proxy/json/json-value";
import { isRawNumber, setOwn } from "#proxy/neutral/schema/subschemas";

/** An object that is being put together. */
export type MutableObject = Record<string, unknown>;

/** A copy without these members. */
export function without(object: JsonObject, ...names: readonly string[]): MutableObject {
  const kept: MutableObject = {};
  for (const [name, value] of Object.entries(object)) if (!names.includes(name)) setOwn(kept, name, value);
  return kept;
}

/** A copy of what an object has of these members. */
export function only(object: JsonObject, ...names: readonly string[]): MutableObject {
  const kept: MutableObject = {};
  for (const name of names) if (Object.hasOwn(object, name)) setOwn(kept, name, object[name]);
  return kept;
}

/** An object of members; a number that is kept as its source text is none. */
export function isMembers(value: unknown): value is MutableObject {
  return isObject(value) && !isRawNumber(value);
}

/** Sets all members of another object. */
export function setMembers(target: MutableObject, members: JsonObject): void {
  for (const [name, value] of Object.entries(members)) setOwn(target, name, value);
}

/** Adds entries to a list. */
export function append(list: unknown[], entries: readonly unknown[]): void {
  for (const entry of entries) list.push(entry);
}

/** Sets what a later event says. Null says nothing where something was said, and is kept where nothing was. */
export function setLater(target: MutableObject, name: string, value: unknown): void {
  if (value === undefined) return;
  if (value === null && Object.hasOwn(target, name)) return;
  setOwn(target, name, value);
}
