/** Parses the events that a format's filter let pass, for the aggregations of all formats. */

import { parseJsonText } from "#proxy/json/json-text";
import { isObject } from "#proxy/json/json-value";
import { InvalidReply } from "#proxy/neutral/reply";
import { readEventFields, splitEvents } from "#proxy/sse/event-fields";
import type { JsonEvent } from "./aggregation.ts";

const terminatorText = "[DONE]";

/**
 * Comments, events without data and the terminator of chat completions say nothing of the reply.
 * @throws InvalidReply for data that is no JSON object
 */
export function* readEvents(stream: Buffer): Generator<JsonEvent, void> {
  for (const bytes of splitEvents(stream)) {
    const { name, data } = readEventFields(bytes);
    if (data === undefined || data.trim() === "" || data === terminatorText) continue;
    yield { name, json: parseObject(data) };
  }
}

/** @throws InvalidReply for what is no JSON object. Long integers keep their digits. */
export function parseObject(text: string): JsonEvent["json"] {
  let value: unknown;
  try {
    value = parseJsonText(text);
  } catch {
    throw new InvalidReply("an event is not JSON");
  }
  if (!isObject(value)) throw new InvalidReply("an event is not an object");
  return value;
}
