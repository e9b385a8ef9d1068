/**
 * Reads `messages` as turns (docs/design/chat-completions.md 3). Keys that other gateways leave on a message are
 * ignored, as the page says; content of unknown shape is refused.
 */
import { asList, asText, isObject, type JsonObject } from "#proxy/json/json-value";
import type { CacheHint, Part, ReasoningPart, ResultPart, Turn } from "#proxy/neutral/conversation";
import { markedResult } from "#proxy/neutral/turns/cache-marks";
import { OpenCalls } from "./open-calls.ts";
import { readCacheHint, readContent, readTextContent } from "./read-content.ts";
import { readReasoning } from "./read-reasoning.ts";
import { missing, unsupported, wrongType, wrongValue } from "./refusals.ts";

/** @throws GatewayError naming the message, part or call at fault */
export function readMessages(messages: readonly unknown[]): Turn[] {
  const calls = new OpenCalls();
  return messages.map((message, index) => readMessage(message, `messages[${index}]`, calls));
}

function readMessage(message: unknown, where: string, calls: OpenCalls): Turn {
  if (!isObject(message)) throw wrongType(where, "an object");
  const turn = { name: typeof message["name"] === "string" ? message["name"] : undefined };
  switch (message["role"]) {
    case "system":
      return {
        role: "system",
        ...turn,
        parts: cached(readTextContent(message["content"], `${where}.content`), message),
      };
    case "developer": {
      const parts = cached(readTextContent(message["content"], `${where}.content`), message);
      return { role: "system", isDeveloper: true, ...turn, parts };
    }
    case "user":
      return { role: "user", ...turn, parts: cached(readUserContent(message["content"], `${where}.content`), message) };
    case "assistant":
      return { role: "assistant", ...turn, parts: cached(readAssistantParts(message, where, calls), message) };
    case "tool":
    case "function":
      return { role: "tool", parts: cached([readResult(message, where, calls)], message) };
    case undefined:
    case null:
      throw missing(`${where}.role`);
    default:
      throw wrongValue(`${where}.role`, 'must be "system", "developer", "user", "assistant", "tool" or "function"');
  }
}

/** A hint on a message holds for its last part. */
function cached(parts: readonly Part[], message: JsonObject): readonly Part[] {
  const cache: CacheHint | undefined = readCacheHint(message);
  const last = parts.at(-1);
  return cache === undefined || last === undefined ? parts : [...parts.slice(0, -1), { ...last, cache }];
}

function readUserContent(content: unknown, where: string): Part[] {
  const parts = readContent(content, where);
  // An empty message is one all the same: what a provider thinks of it is the provider's to say.
  return parts.length === 0 ? [{ kind: "text", text: "", where }] : parts;
}

function readAssistantParts(message: JsonObject, where: string, calls: OpenCalls): Part[] {
  if (message["audio"] !== undefined && message["audio"] !== null) {
    throw unsupported(`${where}.audio`, "refers to audio that only its own provider has");
  }
  const reasoning: ReasoningPart[] = readReasoning(message, where);
  const called = readCalls(message, where, calls);
  const content = readContent(message["content"], `${where}.content`);
  // Agents send "" beside calls, and mean nothing by it.
  const hasMore = called.length > 0 || asText(message["refusal"]) !== "";
  const visible = content.filter((part) => {
    return !(hasMore && part.kind === "text" && part.text === "" && part.cache === undefined);
  });
  const refusal = asText(message["refusal"]);
  const refused: Part[] = refusal === "" ? [] : [{ kind: "refusal", text: refusal, where: `${where}.refusal` }];
  return [...reasoning, ...visible, ...refused, ...called];
}

function readCalls(message: JsonObject, where: string, calls: OpenCalls): Part[] {
  const list = message["tool_calls"];
  if (list !== undefined && list !== null && !Array.isArray(list)) throw wrongType(`${where}.tool_calls`, "an array");
  const parts = asList(list).map((call, index) => calls.read(call, `${where}.tool_calls[${index}]`));
  const legacy = message["function_call"];
  if (isObject(legacy)) parts.push(calls.readFunctionCall(legacy, `${where}.function_call`));
  return parts;
}

/** A `tool` message, or the older `function` message, which has a name in place of an id. */
function readResult(message: JsonObject, where: string, calls: OpenCalls): ResultPart {
  const name = asText(message["name"]);
  const call = calls.assignResult(asText(message["tool_call_id"]), name);
  if (call === undefined) throw missing(`${where}.tool_call_id`);
  const content = readContent(message["content"], `${where}.content`).flatMap((part) => {
    if (part.kind === "refusal") return [{ kind: "text", text: part.text, where: part.where } as const];
    return [part];
  });
  const result: ResultPart = { kind: "result", callId: call.id, content, where };
  const known = call.name ?? name;
  return markedResult(known === "" ? result : { ...result, name: known });
}
