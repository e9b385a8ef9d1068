/**
 * Finds what a chat completion produced, for estimates where usage is absent: text, reasoning, refusals, calls, pictures,
 * sound.
 */

import type { ProducedOutput } from "#proxy/formats/stream/produced";
import { asList, asText, isObject, member } from "#proxy/json/json-value";

/** Adds the text of all choices of a chunk (`delta`) or a body (`message`). */
export function readProduced(value: unknown, output: ProducedOutput): void {
  for (const choice of asList(member(value, "choices"))) {
    const message = member(choice, "delta") ?? member(choice, "message");
    addContent(member(message, "content"), output);
    const reasoning = member(message, "reasoning_content") ?? member(message, "reasoning");
    output.add(reasoning);
    output.add(member(message, "refusal"));
    for (const call of asList(member(message, "tool_calls"))) addCall(call, output);
    addFunction(member(message, "function_call"), output);
    const audio = member(message, "audio");
    output.add(member(audio, "transcript"));
    output.addAudio(member(audio, "data"));
    for (const _ of asList(member(message, "images"))) output.addImage();
    output.add(member(choice, "text"));
  }
}

/** Whether a chunk carries anything a model was paid to produce. */
export function hasProduced(chunk: unknown): boolean {
  for (const choice of asList(member(chunk, "choices"))) {
    const delta = member(choice, "delta") ?? member(choice, "message");
    // A text completion has its text in the choice itself.
    if (asText(member(choice, "text")) !== "") return true;
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

function addContent(content: unknown, output: ProducedOutput): void {
  output.add(content);
  for (const part of asList(content)) {
    output.add(member(part, "text"));
    if (isObject(part) && part["type"] === "image_url") output.addImage();
    // Mistral's reasoning: a part of parts.
    for (const thought of asList(member(part, "thinking"))) output.add(member(thought, "text"));
  }
}

function addCall(call: unknown, output: ProducedOutput): void {
  addFunction(member(call, "function"), output);
  const custom = member(call, "custom");
  output.add(member(custom, "name"));
  output.add(member(custom, "input"));
}

function addFunction(called: unknown, output: ProducedOutput): void {
  output.add(member(called, "name"));
  output.add(member(called, "arguments"));
}
