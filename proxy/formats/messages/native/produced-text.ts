/** Finds what a message produced, for estimates where usage is absent: text, thinking, tool input. */

import type { ProducedOutput } from "#proxy/formats/stream/produced";
import { asList, isObject, member } from "#proxy/json/json-value";

/** Adds the text of one stream event. */
export function readEventText(event: unknown, output: ProducedOutput): void {
  const delta = member(event, "delta");
  output.add(member(delta, "text"));
  output.add(member(delta, "thinking"));
  output.add(member(delta, "partial_json"));
  const block = member(event, "content_block");
  if (block !== undefined) readBlockText(block, output);
}

/** Adds the text of a whole message. */
export function readMessageText(message: unknown, output: ProducedOutput): void {
  for (const block of asList(member(message, "content"))) readBlockText(block, output);
}

function readBlockText(block: unknown, output: ProducedOutput): void {
  output.add(member(block, "text"));
  output.add(member(block, "thinking"));
  output.add(member(block, "name"));
  const input = member(block, "input");
  if (isObject(input) && Object.keys(input).length > 0) output.add(JSON.stringify(input));
}
