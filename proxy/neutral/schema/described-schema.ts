/** The schema of an answer with what the client says of it beside it, for formats that have no other place for that. */
import type { JsonObject } from "#proxy/json/json-value";

export function describedSchema(schema: JsonObject, description: string | undefined): JsonObject {
  return description === undefined || schema["description"] !== undefined ? schema : { ...schema, description };
}
