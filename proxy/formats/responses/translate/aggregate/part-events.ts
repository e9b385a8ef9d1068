/**
 * Writes the events of the parts of a message or of reasoning (docs/design/responses.md 6.2): announced empty, filled
 * in one delta, done. Parts of unknown types are announced as they are.
 */

import type { Frames } from "#proxy/formats/responses/translate/stream/write/frames";
import { asList, isObject, type JsonObject } from "#proxy/json/json-value";

/** Parts that are a text: the member that grows, and what their events are called. */
const texts: Readonly<Record<string, { readonly member: string; readonly event: string }>> = {
  output_text: { member: "text", event: "response.output_text" },
  refusal: { member: "refusal", event: "response.refusal" },
  reasoning_text: { member: "text", event: "response.reasoning_text" },
};

/** @param members JSON members that say which item an event is about */
export function emitParts(item: JsonObject, members: string, frames: Frames): void {
  for (const [index, part] of partsOf(item["summary"]).entries()) {
    emitSummary(part, `${members},"summary_index":${index}`, frames);
  }
  for (const [index, part] of partsOf(item["content"]).entries()) {
    emitPart(part, `${members},"content_index":${index}`, frames);
  }
}

function partsOf(list: unknown): readonly JsonObject[] {
  return asList(list).filter(isObject);
}

function emitSummary(part: JsonObject, members: string, frames: Frames): void {
  const { text } = part;
  const told = typeof text === "string" ? text : "";
  const begun = JSON.stringify({ ...part, text: "" });
  frames.emit("response.reasoning_summary_part.added", `${members},"part":${begun}`);
  if (told !== "") frames.emit("response.reasoning_summary_text.delta", `${members},"delta":${JSON.stringify(told)}`);
  frames.emit("response.reasoning_summary_text.done", `${members},"text":${JSON.stringify(told)}`);
  frames.emit("response.reasoning_summary_part.done", `${members},"part":${JSON.stringify(part)}`);
}

function emitPart(part: JsonObject, members: string, frames: Frames): void {
  const { type } = part;
  const kind = typeof type === "string" && Object.hasOwn(texts, type) ? texts[type] : undefined;
  const text = kind === undefined ? undefined : part[kind.member];
  const isText = kind !== undefined && typeof text === "string";
  frames.emit(
    "response.content_part.added",
    `${members},"part":${JSON.stringify(isText ? emptied(part, kind.member) : part)}`,
  );
  if (isText) emitText(part, kind, text, members, frames);
  frames.emit("response.content_part.done", `${members},"part":${JSON.stringify(part)}`);
}

function emptied(part: JsonObject, member: string): JsonObject {
  const empty: Record<string, unknown> = { ...part, [member]: "" };
  for (const list of ["annotations", "logprobs"]) if (Array.isArray(part[list])) empty[list] = [];
  return empty;
}

/** Sources come before the end of the text that they speak of, as providers tell them. */
function emitText(
  part: JsonObject,
  { event, member }: { readonly event: string; readonly member: string },
  text: string,
  members: string,
  frames: Frames,
): void {
  const isOutput = part["type"] === "output_text";
  const logprobs = isOutput ? `,"logprobs":${JSON.stringify(asList(part["logprobs"]))}` : "";
  if (text !== "") frames.emit(`${event}.delta`, `${members},"delta":${JSON.stringify(text)}${logprobs}`);
  if (isOutput) {
    for (const [index, annotation] of asList(part["annotations"]).entries()) {
      const added = `"annotation_index":${index},"annotation":${JSON.stringify(annotation)}`;
      frames.emit("response.output_text.annotation.added", `${members},${added}`);
    }
  }
  frames.emit(`${event}.done`, `${members},"${member}":${JSON.stringify(text)}${logprobs}`);
}
