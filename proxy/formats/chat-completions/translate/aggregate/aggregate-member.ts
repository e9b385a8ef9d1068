/**
 * Merges a delta's member into the member of a message, whatever its name: texts and lists are joined, objects are
 * merged member by member, any other value replaces the earlier one (docs/design/chat-completions.md 6; the rule of
 * OpenAI's own SDK for Python).
 */

import { isMembers, type MutableObject, setLater } from "#proxy/formats/aggregate/members";
import type { JsonObject } from "#proxy/json/json-value";
import { setOwn } from "#proxy/neutral/schema/subschemas";

/** Names whose text is one value and no piece of one. */
const fixed: ReadonlySet<string> = new Set(["role", "type", "id", "name", "format", "index", "object"]);

/** Adds to a member what a delta says of it. Null says nothing where something was said. */
export function mergeMember(target: MutableObject, name: string, later: unknown): void {
  const known = Object.hasOwn(target, name) ? target[name] : undefined;
  if (typeof known === "string" && typeof later === "string") {
    if (!fixed.has(name)) setOwn(target, name, known + later);
    else if (later !== "") setOwn(target, name, later);
  } else if (Array.isArray(known) && Array.isArray(later)) {
    mergeList(known, later);
  } else if (isMembers(known) && isMembers(later)) {
    mergeObject(known, later);
  } else {
    setLater(target, name, later);
  }
}

export function mergeObject(known: MutableObject, later: JsonObject): void {
  for (const [name, value] of Object.entries(later)) mergeMember(known, name, value);
}

/** An entry with the `index` of the last one goes on with it (`reasoning_details` of OpenRouter); any other is new. */
function mergeList(known: unknown[], later: readonly unknown[]): void {
  for (const entry of later) {
    const last = known.at(-1);
    if (isMembers(last) && isMembers(entry) && isSameEntry(last, entry)) mergeObject(last, entry);
    else known.push(entry);
  }
}

function isSameEntry(last: JsonObject, entry: JsonObject): boolean {
  return typeof entry["index"] === "number" && last["index"] === entry["index"] && last["type"] === entry["type"];
}
