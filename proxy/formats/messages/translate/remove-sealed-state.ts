/**
 * Removes from a messages body what this gateway put there for another provider: sealed thinking blocks, searches that
 * another provider ran, and citations with its mark (docs/design/translation.md 6.2). The vendor would refuse their
 * signatures.
 */
import { asList, asText, isObject, type JsonObject } from "#proxy/json/json-value";
import { isEnvelope } from "#proxy/neutral/state/envelope";
import { isShownSearch } from "#proxy/neutral/state/shown-search";

/** @returns the same object when there is nothing to take out */
export function removeSealedState(body: JsonObject): JsonObject {
  const given = asList(body["messages"]);
  const cleaned = given.map(cleanMessage);
  if (cleaned.every((message, index) => message === given[index])) return body;
  const messages = cleaned.filter((message) => message !== undefined);
  const { thinking, ...others } = body;
  const keepsThinking = !isObject(thinking) || thinking["type"] !== "enabled" || beginsWithThinking(messages);
  return keepsThinking ? { ...body, messages } : { ...others, messages };
}

/** @returns undefined for a message that held nothing else */
function cleanMessage(message: unknown): unknown {
  if (!isObject(message) || !Array.isArray(message["content"])) return message;
  const content = message["content"];
  const kept = content.filter((block) => !isSealed(block)).map(withoutSealedCitations);
  if (kept.length === content.length && kept.every((block, index) => block === content[index])) return message;
  return kept.length === 0 ? undefined : { ...message, content: kept };
}

function isSealed(block: unknown): boolean {
  if (!isObject(block)) return false;
  if (isShownSearch("Messages", block["id"]) || isShownSearch("Messages", block["tool_use_id"])) return true;
  if (block["type"] === "thinking") return isEnvelope(asText(block["signature"]));
  return block["type"] === "redacted_thinking" && isEnvelope(asText(block["data"]));
}

function withoutSealedCitations(block: unknown): unknown {
  if (!isObject(block) || !Array.isArray(block["citations"])) return block;
  const { citations, ...others } = block;
  const kept = block["citations"].filter(
    (citation) => !isObject(citation) || !isEnvelope(asText(citation["encrypted_index"])),
  );
  if (kept.length === block["citations"].length) return block;
  return kept.length === 0 ? others : { ...block, citations: kept };
}

/** With a budget the vendor wants the message that tool results continue to begin with its thinking. */
function beginsWithThinking(messages: readonly unknown[]): boolean {
  const last = messages.findLast((message) => isObject(message) && message["role"] === "assistant");
  const content = isObject(last) && Array.isArray(last["content"]) ? last["content"] : [];
  if (!content.some((block) => isObject(block) && block["type"] === "tool_use")) return true;
  const first = asText(isObject(content[0]) ? content[0]["type"] : undefined);
  return first === "thinking" || first === "redacted_thinking";
}
