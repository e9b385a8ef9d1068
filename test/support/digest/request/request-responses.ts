/** Facts of a responses request. */
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
} from "./request-facts.ts";

export function digestResponsesRequest(body: unknown, facts: RequestDigest): void {
  addSystem(facts, text(at(body, "instructions")));
  const input = at(body, "input");
  for (const item of typeof input === "string" ? [{ role: "user", content: input }] : list(input))
    readItem(item, facts);
  for (const tool of list(at(body, "tools"))) {
    if (!["function", "custom"].includes(text(at(tool, "type")))) continue;
    facts.tools.push({
      name: text(at(tool, "name")),
      description: text(at(tool, "description")),
      parameters: at(tool, "parameters") ?? null,
    });
  }
  const choice = at(body, "tool_choice");
  facts.tool_choice = textOrNull(choice) ?? textOrNull(at(choice, "name")) ?? textOrNull(at(choice, "mode"));
  facts.max_tokens = numberOrNull(at(body, "max_output_tokens"));
  facts.temperature = numberOrNull(at(body, "temperature"));
  facts.top_p = numberOrNull(at(body, "top_p"));
  const format = at(body, "text", "format", "type");
  facts.structured = format === "json_schema" ? "schema" : format === "json_object" ? "json" : null;
  const effort = at(body, "reasoning", "effort");
  facts.thinking = typeof effort === "string" ? effort !== "none" : at(body, "reasoning", "summary") ? true : null;
  const parallel = at(body, "parallel_tool_calls");
  facts.parallel = typeof parallel === "boolean" ? parallel : null;
  facts.user = textOrNull(at(body, "user"));
}

function readItem(item: unknown, facts: RequestDigest): void {
  const type = at(item, "type") ?? "message";
  if (type === "function_call" || type === "custom_tool_call") {
    const args = argumentsValue(at(item, "arguments") ?? at(item, "input"));
    addItems(facts, "assistant", [{ call: text(at(item, "name")), args }]);
  } else if (type === "function_call_output" || type === "custom_tool_call_output") {
    addItems(facts, "user", resultItems(at(item, "output")));
  } else if (type === "message") {
    readMessage(item, facts);
  }
}

function resultItems(output: unknown): RequestItem[] {
  const files = list(output).filter((part) => at(part, "type") !== "input_text");
  const rest = Array.isArray(output) ? output.filter((part) => at(part, "type") === "input_text") : output;
  return [{ result: resultValue(rest) }, ...files.flatMap(partItem)];
}

function readMessage(item: unknown, facts: RequestDigest): void {
  const role = at(item, "role");
  const content = at(item, "content");
  const items = typeof content === "string" ? [{ text: content }] : list(content).flatMap(partItem);
  if (role === "system" || role === "developer") {
    addSystem(facts, items.map((part) => ("text" in part ? part.text : "")).join(""));
  } else addItems(facts, role === "assistant" ? "assistant" : "user", items);
}

function partItem(part: unknown): RequestItem[] {
  const type = at(part, "type");
  if (type === "input_image") return [fileOf("image", { url: text(at(part, "image_url") ?? at(part, "file_id")) })];
  if (type === "input_file") {
    return [fileOf("document", { url: text(at(part, "file_data") ?? at(part, "file_url") ?? at(part, "file_id")) })];
  }
  const audio = at(part, "input_audio");
  if (audio !== undefined) return [fileOf("audio", { base64: text(at(audio, "data")) })];
  const value = text(at(part, "text") ?? at(part, "refusal"));
  return value === "" ? [] : [{ text: value }];
}
