/**
 * Removes state that this gateway sealed for a channel of another format from a body for an upstream of this one, which
 * would refuse state that it did not give (docs/design/translation.md 6.2).
 */
import { isObject, type JsonObject, member, memberAt } from "#proxy/json/json-value";
import { isEnvelope } from "#proxy/neutral/state/envelope";

/** @returns the same object when it holds none */
export function removeSealedState(body: JsonObject): JsonObject {
  const messages = body["messages"];
  if (!Array.isArray(messages)) return body;
  const cleaned = messages.map(cleanMessage);
  return cleaned.every((message, index) => message === messages[index]) ? body : { ...body, messages: cleaned };
}

function cleanMessage(message: unknown): unknown {
  if (!isObject(message)) return message;
  const withCalls = cleanList(message, "tool_calls", (call) => (isSealedCall(call) ? withoutExtra(call) : call));
  const withBlocks = cleanList(withCalls, "thinking_blocks", (block) => (isSealedBlock(block) ? undefined : block));
  return cleanList(withBlocks, "reasoning_details", (detail) => (isSealedBlock(detail) ? undefined : detail));
}

/** The message with each entry of one of its lists replaced; what becomes undefined leaves, an empty list too. */
function cleanList(message: JsonObject, name: string, clean: (entry: unknown) => unknown): JsonObject {
  const list = message[name];
  if (!Array.isArray(list)) return message;
  const cleaned = list.map(clean);
  if (cleaned.every((entry, index) => entry === list[index])) return message;
  const { [name]: _list, ...rest } = message;
  const kept = cleaned.filter((entry) => entry !== undefined);
  return kept.length === 0 ? rest : { ...rest, [name]: kept };
}

function isSealedCall(call: unknown): call is JsonObject {
  return isSealed(memberAt(call, "extra_content", "google", "thought_signature"));
}

function withoutExtra(call: JsonObject): JsonObject {
  const { extra_content: _extra, ...rest } = call;
  return rest;
}

function isSealedBlock(block: unknown): boolean {
  return isSealed(member(block, "signature")) || isSealed(member(block, "data"));
}

function isSealed(value: unknown): boolean {
  return typeof value === "string" && isEnvelope(value);
}
