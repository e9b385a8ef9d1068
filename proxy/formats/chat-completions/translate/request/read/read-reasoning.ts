/**
 * Reads thinking that a client sends back: the format has no member for it, so this looks for those that vendors and
 * other gateways use (docs/design/chat-completions.md 8, docs/design/translation.md 6.2).
 */
import { asList, asText, isObject, type JsonObject } from "#proxy/json/json-value";
import type { CarriedState, ReasoningPart } from "#proxy/neutral/conversation";
import { isEnvelope } from "#proxy/neutral/state/envelope";

/** Thinking of an assistant message, before everything else that it said. */
export function readReasoning(message: JsonObject, where: string): ReasoningPart[] {
  const signed = [
    ...asList(message["thinking_blocks"]).flatMap((block) => readThinkingBlock(block, `${where}.thinking_blocks`)),
  ];
  if (signed.length > 0) return signed;
  const details = asList(message["reasoning_details"]).flatMap((detail) =>
    readDetail(detail, `${where}.reasoning_details`),
  );
  if (details.length > 0) return details;
  for (const name of ["reasoning_content", "reasoning"]) {
    const text = asText(message[name]);
    if (text !== "") return [{ kind: "reasoning", text, where: `${where}.${name}` }];
  }
  return [];
}

/** Anthropic's blocks as they are. */
function readThinkingBlock(block: unknown, where: string): ReasoningPart[] {
  if (!isObject(block)) return [];
  if (block["type"] === "redacted_thinking") {
    const data = asText(block["data"]);
    if (data === "") return [];
    return [{ kind: "reasoning", text: "", where, states: [carried(data, { kind: "redacted-thinking", data })] }];
  }
  const text = asText(block["thinking"]);
  const signature = asText(block["signature"]);
  if (signature === "") return text === "" ? [] : [{ kind: "reasoning", text, where }];
  return [{ kind: "reasoning", text, where, states: [carried(signature, { kind: "thinking", text, signature })] }];
}

/** OpenRouter's typed list. */
function readDetail(detail: unknown, where: string): ReasoningPart[] {
  if (!isObject(detail)) return [];
  const text = asText(detail["text"]) || asText(detail["summary"]);
  const signature = asText(detail["signature"]);
  if (signature !== "") {
    return [{ kind: "reasoning", text, where, states: [carried(signature, { kind: "thinking", text, signature })] }];
  }
  return text === "" ? [] : [{ kind: "reasoning", text, where }];
}

type NativeState = Extract<CarriedState, { type: "native" }>["state"];

function carried(text: string, state: NativeState): CarriedState {
  return isEnvelope(text) ? { type: "sealed", envelope: text } : { type: "native", state };
}
