/** Reads text blocks of a messages client, which occur in messages, in `system`, in tool results and in documents. */
import { asText, isObject, type JsonObject } from "#proxy/json/json-value";
import type { CacheHint, TextPart } from "#proxy/neutral/conversation";
import { listAt, objectAt, refuseValue, textAt } from "./refusals.ts";

export function readTextPart(block: JsonObject, where: string): TextPart {
  return { kind: "text", text: textAt(block["text"], `${where}.text`), cache: readCache(block), where };
}

/** Content that can only be text: a string or text blocks. @throws GatewayError for other blocks */
export function readTexts(content: unknown, path: string): TextPart[] {
  if (typeof content === "string") return [{ kind: "text", text: content, where: path }];
  return listAt(content, path).map((value, index) => {
    const where = `${path}.${index}`;
    const block = objectAt(value, where);
    return block["type"] === "text" ? readTextPart(block, where) : refuseBlock(block, where);
  });
}

/** `cache_control` of a block, tool or body; undefined when there is none. */
export function readCache(block: JsonObject): CacheHint | undefined {
  const control = block["cache_control"];
  if (!isObject(control)) return undefined;
  const ttl = control["ttl"];
  return typeof ttl === "string" ? { ttl } : {};
}

/** A block that has no business at this place. @throws GatewayError naming its type */
export function refuseBlock(block: JsonObject, where: string): never {
  return refuseValue(
    `${where}.type`,
    `is not a content block that is allowed here: ${JSON.stringify(asText(block["type"]))}`,
  );
}
