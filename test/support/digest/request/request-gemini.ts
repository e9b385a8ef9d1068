/** Facts of a generateContent request; both spellings of every name. */
import { at, list, text } from "#test/support/digest/facts";
import {
  addItems,
  addSystem,
  fileOf,
  numberOrNull,
  type RequestDigest,
  type RequestItem,
  resultValue,
  texts,
} from "./request-facts.ts";

export function digestGeminiRequest(body: unknown, facts: RequestDigest): void {
  const system = either(body, "systemInstruction");
  addSystem(
    facts,
    typeof system === "string"
      ? system
      : partsOf(system)
          .map((part) => text(at(part, "text")))
          .join(""),
  );
  const contents = at(body, "contents");
  for (const content of typeof contents === "string" ? [{ parts: [{ text: contents }] }] : [contents].flat()) {
    addItems(facts, at(content, "role") === "model" ? "assistant" : "user", partsOf(content).flatMap(partItems));
  }
  readTools(body, facts);
  const config = either(body, "generationConfig");
  facts.max_tokens = numberOrNull(either(config, "maxOutputTokens"));
  facts.temperature = numberOrNull(at(config, "temperature"));
  facts.top_p = numberOrNull(either(config, "topP"));
  facts.top_k = numberOrNull(either(config, "topK"));
  facts.stop = texts(either(config, "stopSequences") ?? []);
  facts.n = numberOrNull(either(config, "candidateCount")) ?? 1;
  facts.seed = numberOrNull(at(config, "seed"));
  const schema = either(config, "responseSchema") ?? either(config, "responseJsonSchema");
  const mime = text(either(config, "responseMimeType"));
  facts.structured = schema !== undefined ? "schema" : mime.includes("json") ? "json" : null;
  const thinking = either(config, "thinkingConfig");
  if (thinking !== undefined) facts.thinking = either(thinking, "thinkingBudget") !== 0;
}

function readTools(body: unknown, facts: RequestDigest): void {
  for (const tool of [at(body, "tools") ?? []].flat()) {
    for (const declared of list(either(tool, "functionDeclarations"))) {
      facts.tools.push({
        name: text(at(declared, "name")),
        description: text(at(declared, "description")),
        parameters: either(declared, "parametersJsonSchema") ?? at(declared, "parameters") ?? null,
      });
    }
  }
  const calling = either(either(body, "toolConfig"), "functionCallingConfig");
  const mode = text(at(calling, "mode")).toLowerCase();
  const names = list(either(calling, "allowedFunctionNames"));
  if (mode === "any") facts.tool_choice = names.length === 1 ? text(names[0]) : "required";
  else if (mode !== "") facts.tool_choice = mode === "validated" ? "auto" : mode;
}

function partsOf(content: unknown): readonly unknown[] {
  return typeof content === "string" ? [{ text: content }] : [at(content, "parts") ?? []].flat();
}

function partItems(part: unknown): RequestItem[] {
  if (at(part, "thought") === true) return [];
  const call = either(part, "functionCall");
  if (call !== undefined) return [{ call: text(at(call, "name")), args: at(call, "args") ?? {} }];
  const response = either(part, "functionResponse");
  if (response !== undefined) {
    return [{ result: resultValue(at(response, "response")) }, ...list(at(response, "parts")).flatMap(partItems)];
  }
  const data = either(part, "inlineData");
  if (data !== undefined) {
    const mime = text(either(data, "mimeType"));
    if (mime.startsWith("text/")) return [{ text: Buffer.from(text(at(data, "data")), "base64").toString("utf8") }];
    return [fileOf(kindOf(mime), { base64: text(at(data, "data")) })];
  }
  const file = either(part, "fileData");
  if (file !== undefined)
    return [fileOf(kindOf(text(either(file, "mimeType"))), { url: text(either(file, "fileUri")) })];
  return text(at(part, "text")) === "" ? [] : [{ text: text(at(part, "text")) }];
}

function kindOf(mime: string): string {
  const [kind = ""] = mime.split("/");
  return kind === "image" || kind === "audio" || kind === "video" ? kind : "document";
}

function either(value: unknown, camel: string): unknown {
  return (
    at(value, camel) ??
    at(
      value,
      camel.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    )
  );
}
