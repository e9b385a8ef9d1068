/** Parses a whole reply of an upstream, which must be one JSON object. */
import { parseJsonText } from "#proxy/json/json-text";
import { isObject, type JsonObject } from "#proxy/json/json-value";
import { InvalidReply } from "./reply.ts";

/** @throws InvalidReply for a body that is no JSON object */
export function parseBody(body: Buffer): JsonObject {
  try {
    const text = body.toString("utf8");
    const json = parseJsonText(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
    if (isObject(json)) return json;
  } catch {
    // The error below says it.
  }
  throw new InvalidReply("the reply is not a JSON object");
}
