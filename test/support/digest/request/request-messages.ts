/** Facts of a messages request. */
import { at, list, text } from "#test/support/digest/facts";
import {
  addItems,
  addSystem,
  fileOf,
  numberOrNull,
  type RequestDigest,
  type RequestItem,
  resultValue,
  textOrNull,
  texts,
} from "./request-facts.ts";

export function digestMessagesRequest(body: unknown, facts: RequestDigest): void {
  addSystem(facts, textOf(at(body, "system")));
  for (const message of list(at(body, "messages"))) {
    const role = at(message, "role");
    const content = at(message, "content");
    if (role === "system") addSystem(facts, textOf(content));
    else {
      const items = typeof content === "string" ? [{ text: content }] : list(content).flatMap(blockItems);
      addItems(facts, role === "assistant" ? "assistant" : "user", items);
    }
  }
  for (const tool of list(at(body, "tools"))) {
    const type = at(tool, "type");
    if (type !== undefined && type !== "custom") continue;
    facts.tools.push({
      name: text(at(tool, "name")),
      description: text(at(tool, "description")),
      parameters: at(tool, "input_schema") ?? null,
    });
  }
  const choice = at(body, "tool_choice");
  const mode = at(choice, "type");
  facts.tool_choice = mode === "any" ? "required" : mode === "tool" ? text(at(choice, "name")) : textOrNull(mode);
  facts.max_tokens = numberOrNull(at(body, "max_tokens"));
  facts.temperature = numberOrNull(at(body, "temperature"));
  facts.top_p = numberOrNull(at(body, "top_p"));
  facts.top_k = numberOrNull(at(body, "top_k"));
  facts.stop = texts(at(body, "stop_sequences") ?? []);
  const format = at(body, "output_config", "format", "type") ?? at(body, "output_format", "type");
  facts.structured = format === "json_schema" ? "schema" : null;
  const thinking = at(body, "thinking", "type");
  facts.thinking = typeof thinking === "string" ? thinking !== "disabled" : null;
  const single = at(choice, "disable_parallel_tool_use");
  facts.parallel = single === true ? false : null;
  facts.user = textOrNull(at(body, "metadata", "user_id"));
}

function textOf(content: unknown): string {
  return typeof content === "string"
    ? content
    : list(content)
        .map((block) => text(at(block, "text")))
        .join("");
}

function blockItems(block: unknown): RequestItem[] {
  switch (at(block, "type")) {
    case "text":
      return text(at(block, "text")) === "" ? [] : [{ text: text(at(block, "text")) }];
    case "image":
      return [fileOf("image", sourceOf(block))];
    case "document":
      return [fileOf("document", sourceOf(block))];
    case "tool_use":
      return [{ call: text(at(block, "name")), args: at(block, "input") ?? {} }];
    case "tool_result":
      return resultItems(at(block, "content"));
    case "search_result":
      return [{ text: textOf(at(block, "content")) }];
    default:
      return [];
  }
}

function resultItems(content: unknown): RequestItem[] {
  if (!Array.isArray(content)) return [{ result: resultValue(content ?? "") }];
  const isText = (part: unknown): boolean => ["text", "search_result"].includes(text(at(part, "type")));
  const texts = content.filter(isText).map((part) => ({ text: text(at(part, "text")) || textOf(at(part, "content")) }));
  return [{ result: resultValue(texts) }, ...content.filter((part) => !isText(part)).flatMap(blockItems)];
}

function sourceOf(block: unknown): { base64?: string; url?: string; text?: string } {
  const source = at(block, "source");
  switch (at(source, "type")) {
    case "base64":
      return { base64: text(at(source, "data")) };
    case "text":
      return { text: text(at(source, "data")) };
    case "content":
      return { text: textOf(at(source, "content")) };
    default:
      return { url: text(at(source, "url") ?? at(source, "file_id")) };
  }
}
