/** Finds what a message produced, for estimates where usage is absent: text, thinking, tool input. */
import { asList, isObject, member } from "../json-value.ts";
import type { ProducedText } from "../retained-events.ts";

/** Adds the text of one stream event. */
export function readEventText(event: unknown, text: ProducedText): void {
  const delta = member(event, "delta");
  text.add(member(delta, "text"));
  text.add(member(delta, "thinking"));
  text.add(member(delta, "partial_json"));
  const block = member(event, "content_block");
  if (block !== undefined) readBlockText(block, text);
}

/** Adds the text of a whole message. */
export function readMessageText(message: unknown, text: ProducedText): void {
  for (const block of asList(member(message, "content"))) readBlockText(block, text);
}

function readBlockText(block: unknown, text: ProducedText): void {
  text.add(member(block, "text"));
  text.add(member(block, "thinking"));
  text.add(member(block, "name"));
  const input = member(block, "input");
  if (isObject(input) && Object.keys(input).length > 0) text.add(JSON.stringify(input));
}
