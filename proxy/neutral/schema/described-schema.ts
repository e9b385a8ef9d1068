/** Puts the client's description of the output into its schema, for formats that have no other place for it. */
import type { JsonObject } from "#proxy/json/json-value";

export function describedSchema(schema: JsonObject, description: string | undefined): JsonObject {
  return description === undefined || schema["description"] !== undefined ? schema : { ...schema, description };
}
