/** No members: what most calls have of most things, told by itself so that it is not looked through. */
import type { JsonObject } from "#proxy/json/json-value";

export const noMembers: JsonObject = {};
