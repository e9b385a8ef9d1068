/**
 * Finds members of a client's body that the neutral form has no place for, so that they are named as losses and never
 * dropped silently.
 */
import { asList, asText, isObject, type JsonObject } from "#proxy/json/json-value";

/** What a kind of object may say that is read, or that means nothing to another provider. */
export interface KnownObject {
  readonly members: ReadonlySet<string>;
  /** Members that hold objects of known kinds themselves: one, or a list of them. */
  readonly inner?: () => readonly (readonly [string, KnownObjects])[];
}

/** By an object's `type`; the empty one is for objects without. Undefined for types that are read, or refused, whole. */
export interface KnownObjects {
  get(type: string, object: JsonObject): KnownObject | undefined;
}

/** Objects that are all of one kind, whatever their type. */
export function always(kind: KnownObject): KnownObjects {
  return { get: () => kind };
}

/** How a client's format spells the place of an item: `messages.0` or `input[0]`. */
export type ItemSpelling = (list: string, index: number) => string;

export const dotted: ItemSpelling = (list, index) => `${list}.${index}`;
export const bracketed: ItemSpelling = (list, index) => `${list}[${index}]`;

/** By member. */
export type InnerObjects = () => Readonly<Record<string, KnownObjects>>;

/** @param inner asked for on first need: kinds may hold each other */
export function knownObject(members: readonly string[], inner?: InnerObjects): KnownObject {
  if (inner === undefined) return { members: new Set(members) };
  let entries: readonly (readonly [string, KnownObjects])[] | undefined;
  return {
    members: new Set(members),
    inner: () => {
      entries ??= Object.entries(inner());
      return entries;
    },
  };
}

/**
 * @param value an object or a list of them
 * @param unmapped gets the paths of members that say something and are not known; objects of unknown type are passed over,
 *   because their reader refuses or declares them whole
 */
export function collectUnmapped(
  value: unknown,
  known: KnownObjects,
  where: string,
  itemPath: ItemSpelling,
  unmapped: string[],
): void {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries())
      collectUnmapped(item, known, itemPath(where, index), itemPath, unmapped);
    return;
  }
  if (!isObject(value)) return;
  const kind = known.get(asText(value["type"]), value);
  if (kind === undefined) return;
  for (const name of Object.keys(value)) {
    if (!kind.members.has(name) && isSet(value[name]) && !isUsual(name, value[name])) unmapped.push(`${where}.${name}`);
  }
  if (kind.inner === undefined) return;
  for (const [name, inner] of kind.inner()) {
    const within = value[name];
    if (typeof within === "object") collectUnmapped(within, inner, `${where}.${name}`, itemPath, unmapped);
  }
}

/** @returns paths of members that say something and are not among the known; none of what is no object */
export function unmappedIn(value: unknown, known: ReadonlySet<string>, where: string): string[] {
  if (!isObject(value)) return [];
  return Object.keys(value).flatMap((name) => (known.has(name) || !isSet(value[name]) ? [] : [`${where}.${name}`]));
}

/** Absent, null, empty and false are what a member means by default. */
export function isSet(value: unknown): boolean {
  if (value === undefined || value === null || value === "" || value === false) return false;
  if (Array.isArray(value)) return value.length > 0;
  return !isObject(value) || Object.keys(value).length > 0;
}

/** What there is without being asked for, of members that mean the same in every format that has them. */
const usual: Readonly<Record<string, (value: unknown) => boolean>> = {
  caller: (value) => isOnlyType(value, "direct"),
  allowed_callers: (value) => asList(value).every((caller) => caller === "direct"),
  container: (value) => isOnlyType(value, "auto"),
};

function isUsual(name: string, value: unknown): boolean {
  return Object.hasOwn(usual, name) && usual[name]?.(value) === true;
}

function isOnlyType(value: unknown, type: string): boolean {
  if (!isObject(value) || value["type"] !== type) return false;
  return Object.entries(value).every(([name, inner]) => name === "type" || !isSet(inner));
}
