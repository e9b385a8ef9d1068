/** No members: what most calls have of most things, told by itself so that it is not looked through. */
import type { JsonObject } from "../../../protocols/json-value.ts";

export const nothing: JsonObject = {};
