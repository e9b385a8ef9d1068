/** Facts of a chat completions request. */
import { at, list, text } from "#test/support/digest/facts";
import {
  addItems,
  addSystem,
  argumentsValue,
  fileOf,
  numberOrNull,
  type RequestDigest,
  type RequestItem,
  resultValue,
  textOrNull,
  texts,
} from "./request-facts.ts";

export function digestChatRequest(body: unknown, facts: RequestDigest): void {
  for (const message of list(at(body, "messages"))) readMessage(message, facts);
  for (const tool of [...list(at(body, "tools")), ...list(at(body, "functions"))]) {
    if (!["function", "custom", undefined].includes(textOrNull(at(tool, "type")) ?? undefined)) continue;
    const declared = at(tool, "function") ?? at(tool, "custom") ?? tool;
    facts.tools.push({
      name: text(at(declared, "name")),
      description: text(at(declared, "description")),
      parameters: at(declared, "parameters") ?? null,
    });
  }
  const choice = at(body, "tool_choice");
  facts.tool_choice =
    textOrNull(choice) ?? textOrNull(at(choice, "function", "name")) ?? textOrNull(at(choice, "allowed_tools", "mode"));
  facts.max_tokens = numberOrNull(at(body, "max_completion_tokens") ?? at(body, "max_tokens"));
  facts.temperature = numberOrNull(at(body, "temperature"));
  facts.top_p = numberOrNull(at(body, "top_p"));
  facts.top_k = numberOrNull(at(body, "top_k"));
  facts.stop = at(body, "stop") === undefined || at(body, "stop") === null ? [] : texts(at(body, "stop"));
  const format = at(body, "response_format", "type");
  facts.structured = format === "json_schema" ? "schema" : format === "json_object" ? "json" : null;
  const effort = at(body, "reasoning_effort");
  // The spelling of one reseller.
  const isWanted = at(body, "reasoning") === undefined ? null : true;
  facts.thinking = typeof effort === "string" ? effort !== "none" : isWanted;
  facts.n = numberOrNull(at(body, "n")) ?? 1;
  facts.seed = numberOrNull(at(body, "seed"));
  const parallel = at(body, "parallel_tool_calls");
  facts.parallel = typeof parallel === "boolean" ? parallel : null;
  facts.user = textOrNull(at(body, "user"));
}

function readMessage(message: unknown, facts: RequestDigest): void {
  const role = at(message, "role");
  const content = at(message, "content");
  if (role === "system" || role === "developer") {
    addSystem(
      facts,
      texts(typeof content === "string" ? content : list(content).map((part) => at(part, "text"))).join(""),
    );
    return;
  }
  if (role === "tool" || role === "function") {
    addItems(facts, "user", [{ result: resultValue(content) }]);
    return;
  }
  const items: RequestItem[] = typeof content === "string" ? textItem(content) : list(content).flatMap(partItem);
  items.push(...textItem(text(at(message, "refusal"))));
  const legacy = at(message, "function_call");
  for (const call of [...list(at(message, "tool_calls")), ...(legacy ? [{ function: legacy }] : [])]) {
    const name = text(at(call, "function", "name") ?? at(call, "custom", "name"));
    items.push({ call: name, args: argumentsValue(at(call, "function", "arguments") ?? at(call, "custom", "input")) });
  }
  addItems(facts, role === "assistant" ? "assistant" : "user", items);
}

function textItem(value: string): RequestItem[] {
  return value === "" ? [] : [{ text: value }];
}

function partItem(part: unknown): RequestItem[] {
  const image = at(part, "image_url");
  if (image !== undefined) return [fileOf("image", { url: text(at(image, "url") ?? image) })];
  const audio = at(part, "input_audio");
  if (audio !== undefined) return [fileOf("audio", { base64: text(at(audio, "data")) })];
  const file = at(part, "file");
  if (file !== undefined) return [fileOf("document", { url: text(at(file, "file_data") ?? at(file, "file_id")) })];
  return textItem(text(at(part, "text") ?? at(part, "refusal")));
}
