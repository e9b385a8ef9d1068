/** Writes items of provider-run tools and of images, which come whole (docs/design/responses.md 6.1). */

import { codeItem, imageItem, searchItem } from "#proxy/formats/responses/translate/reply/output-items";
import type { HostedBlock, MediaBlock } from "#proxy/neutral/reply";
import { shownSearchMarks } from "#proxy/neutral/state/shown-search";
import { type Frames, itemMembers } from "./frames.ts";

type NewId = (prefix: string) => string;

/** Only pictures have a place in this format, and only by their bytes. */
export function isImage(block: MediaBlock): block is MediaBlock & { readonly base64: string } {
  return block.mime.startsWith("image/") && block.base64 !== undefined;
}

export function writeImage(frames: Frames, { mime, base64 }: { mime: string; base64: string }, newId: NewId): void {
  const id = newId("ig_");
  const index = frames.added(imageItem(id, mime, null));
  const members = itemMembers(id, index);
  for (const step of ["in_progress", "generating", "completed"]) {
    frames.emit(`response.image_generation_call.${step}`, members);
  }
  frames.done(index, imageItem(id, mime, base64));
}

export function writeSearch(frames: Frames, { queries = [], hasFailed }: HostedBlock, newId: NewId): void {
  const id = newId(shownSearchMarks.Responses);
  const index = frames.added(searchItem(id, "in_progress", queries));
  const members = itemMembers(id, index);
  const status = hasFailed === true ? "failed" : "completed";
  // There is no event for a search that failed.
  for (const step of ["in_progress", "searching", ...(status === "failed" ? [] : [status])]) {
    frames.emit(`response.web_search_call.${step}`, members);
  }
  frames.done(index, searchItem(id, status, queries));
}

export function writeCode(frames: Frames, block: HostedBlock, newId: NewId): void {
  const run = { id: newId("ci_"), containerId: newId("cntr_"), code: block.code ?? "", output: block.output };
  const index = frames.added(codeItem({ ...run, code: "", output: undefined }, "in_progress"));
  const members = itemMembers(run.id, index);
  frames.emit("response.code_interpreter_call.in_progress", members);
  const code = JSON.stringify(run.code);
  if (run.code !== "") frames.emit("response.code_interpreter_call_code.delta", `${members},"delta":${code}`);
  frames.emit("response.code_interpreter_call_code.done", `${members},"code":${code}`);
  frames.emit("response.code_interpreter_call.interpreting", members);
  frames.emit("response.code_interpreter_call.completed", members);
  frames.done(index, codeItem(run, "completed"));
}
