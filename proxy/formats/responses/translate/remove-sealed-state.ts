/**
 * Removes from a body what this gateway sealed for a channel of another format (docs/design/translation.md 6.2): a
 * provider of the client's own format would refuse with 400 reasoning that is not its own.
 */
import { isObject, type JsonObject, member } from "#proxy/json/json-value";
import { isEnvelope } from "#proxy/neutral/state/envelope";
import { isShownSearch } from "#proxy/neutral/state/shown-search";

/** The same object when there is none. */
export function removeSealedState(body: JsonObject): JsonObject {
  const input = member(body, "input");
  if (!Array.isArray(input)) return body;
  const kept = input.filter((item) => !isSealed(item));
  return kept.length === input.length ? body : { ...body, input: kept };
}

/** Without its state a reasoning item is none: its text is a summary for people. A search of another provider is for show. */
function isSealed(item: unknown): boolean {
  if (!isObject(item)) return false;
  if (item["type"] !== "reasoning") return item["type"] === "web_search_call" && isShownSearch("Responses", item["id"]);
  const content = item["encrypted_content"];
  return typeof content === "string" && isEnvelope(content);
}
