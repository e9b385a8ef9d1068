/** Finds what a response produced, for estimates where usage is absent: text, reasoning, refusals, calls. */
import { asList, member } from "../json-value.ts";
import type { ProducedText } from "../retained-events.ts";

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
export function readEventText(event: unknown, text: ProducedText): void {
  const type = member(event, "type");
  if (typeof type === "string" && textDeltas.has(type)) text.add(member(event, "delta"));
  else if (type === "response.output_item.added") text.add(member(member(event, "item"), "name"));
}

/** Adds the text of a whole response. */
export function readResponseText(response: unknown, text: ProducedText): void {
  for (const item of asList(member(response, "output"))) {
    for (const name of ["name", "arguments", "input", "code"]) text.add(member(item, name));
    for (const part of [...asList(member(item, "content")), ...asList(member(item, "summary"))]) {
      text.add(member(part, "text"));
      text.add(member(part, "refusal"));
    }
  }
}
