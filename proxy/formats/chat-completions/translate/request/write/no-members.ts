/**
 * Holds the one object without members, which most calls have for most options: callers compare it by identity and need
 * not search it.
 */
import type { JsonObject } from "#proxy/json/json-value";

export const noMembers: JsonObject = {};
