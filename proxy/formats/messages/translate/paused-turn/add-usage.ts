/** Adds the usage of the messages of one paused turn. Pure. */

import { isMembers, type MutableObject } from "#proxy/formats/aggregate/members";
import { isObject, type JsonObject } from "#proxy/json/json-value";
import { setOwn } from "#proxy/neutral/schema/subschemas";

/** Numbers are added, also within objects; lists are joined; of anything else the later stands. */
export function addUsage(before: JsonObject | undefined, later: JsonObject): JsonObject {
  const sum: MutableObject = { ...before };
  for (const [name, value] of Object.entries(later)) setOwn(sum, name, added(sum[name], value));
  return sum;
}

function added(before: unknown, later: unknown): unknown {
  if (later === null || later === undefined) return before ?? later;
  if (typeof before === "number" && typeof later === "number") return before + later;
  if (Array.isArray(before) && Array.isArray(later)) return [...before, ...later];
  return isMembers(before) && isObject(later) ? addUsage(before, later) : later;
}
