/** Finds what a response produced, for estimates where usage is absent: text, reasoning, refusals, calls, media. */

import type { ProducedOutput } from "#proxy/formats/stream/produced";
import { asList, member } from "#proxy/json/json-value";

const textDeltas = new Set([
  "response.output_text.delta",
  "response.refusal.delta",
  "response.reasoning_text.delta",
  "response.reasoning_summary_text.delta",
  "response.function_call_arguments.delta",
  "response.custom_tool_call_input.delta",
  "response.mcp_call_arguments.delta",
  "response.code_interpreter_call_code.delta",
  "response.audio.transcript.delta",
]);

/** Adds the text of one event. */
export function readEventText(event: unknown, output: ProducedOutput): void {
  const type = member(event, "type");
  if (typeof type === "string" && textDeltas.has(type)) output.add(member(event, "delta"));
  else if (type === "response.audio.delta") output.addAudio(member(event, "delta"));
  else if (type === "response.output_item.added" || type === "response.output_item.done") {
    const item = member(event, "item");
    if (type === "response.output_item.added") output.add(member(item, "name"));
    addPicture(item, output);
  }
}

/** Adds the text of a whole response. */
export function readResponseText(response: unknown, output: ProducedOutput): void {
  for (const item of asList(member(response, "output"))) {
    addPicture(item, output);
    for (const name of ["name", "arguments", "input", "code"]) output.add(member(item, name));
    for (const part of [...asList(member(item, "content")), ...asList(member(item, "summary"))]) {
      output.add(member(part, "text"));
      output.add(member(part, "refusal"));
    }
  }
}

function addPicture(item: unknown, output: ProducedOutput): void {
  if (member(item, "type") === "image_generation_call") output.addImage(member(item, "id"));
}
