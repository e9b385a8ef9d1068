/** Finds what a chat completion produced, for estimates where usage is absent: text, reasoning, refusals, calls. */
import { asList, isObject, member } from "../json-value.ts";
import type { ProducedText } from "../retained-events.ts";

/** Adds the text of all choices of a chunk (`delta`) or a body (`message`). */
export function readProducedText(value: unknown, text: ProducedText): void {
  for (const choice of asList(member(value, "choices"))) {
    const message = member(choice, "delta") ?? member(choice, "message");
    addContent(member(message, "content"), text);
    const reasoning = member(message, "reasoning_content") ?? member(message, "reasoning");
    text.add(reasoning);
    text.add(member(message, "refusal"));
    for (const call of asList(member(message, "tool_calls"))) addCall(call, text);
    addFunction(member(message, "function_call"), text);
    text.add(member(member(message, "audio"), "transcript"));
    text.add(member(choice, "text"));
  }
}

/** Whether a chunk carries anything a model was paid to produce. */
export function hasProducedText(chunk: unknown): boolean {
  for (const choice of asList(member(chunk, "choices"))) {
    const delta = member(choice, "delta") ?? member(choice, "message");
    if (!isObject(delta)) continue;
    for (const name of [
      "content",
      "reasoning_content",
      "reasoning",
      "refusal",
      "tool_calls",
      "function_call",
      "audio",
      "images",
    ]) {
      const value = delta[name];
      if (value !== undefined && value !== null && value !== "" && !(Array.isArray(value) && value.length === 0))
        return true;
    }
  }
  return false;
}

function addContent(content: unknown, text: ProducedText): void {
  text.add(content);
  for (const part of asList(content)) {
    text.add(member(part, "text"));
    // Mistral's reasoning: a part of parts.
    for (const thought of asList(member(part, "thinking"))) text.add(member(thought, "text"));
  }
}

function addCall(call: unknown, text: ProducedText): void {
  addFunction(member(call, "function"), text);
  const custom = member(call, "custom");
  text.add(member(custom, "name"));
  text.add(member(custom, "input"));
}

function addFunction(called: unknown, text: ProducedText): void {
  text.add(member(called, "name"));
  text.add(member(called, "arguments"));
}
