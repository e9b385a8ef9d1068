/** Parses the events of a messages stream together with their type. Pure. */

import { parseJsonText } from "#proxy/json/json-text";
import { asText, isObject, type JsonObject } from "#proxy/json/json-value";
import { encodeEvent } from "#proxy/sse/encoder";
import { readEventFields } from "#proxy/sse/event-fields";

export interface TypedEvent {
  readonly type: string;
  readonly json: JsonObject;
}

/** @returns undefined for what is no JSON object. Long integers keep their digits */
export function parseTyped(bytes: Buffer): TypedEvent | undefined {
  const { name, data } = readEventFields(bytes);
  if (data === undefined) return undefined;
  try {
    const json = parseJsonText(data);
    return isObject(json) ? { type: asText(json["type"]) || (name ?? ""), json } : undefined;
  } catch {
    return undefined;
  }
}

export function encodeTyped({ type, json }: TypedEvent): Buffer {
  return encodeEvent(type, JSON.stringify(json));
}
