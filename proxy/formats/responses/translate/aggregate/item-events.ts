/**
 * Writes the events between the announcement of an output item and its end, by the item's type
 * (docs/design/responses.md 6.1; every event of the published document that can be made from a whole item).
 *
 * Items of other types, known or not, have none: clients refuse events that they do not know. Content that does not fit
 * the published shape of its type appears in the finished item alone.
 */

import type { MutableObject } from "#proxy/formats/aggregate/members";
import type { Frames } from "#proxy/formats/responses/translate/stream/write/frames";
import { asList, isObject, type JsonObject } from "#proxy/json/json-value";
import { emitParts } from "./part-events.ts";

interface ItemKind {
  /** Members that grow, as they are when nothing was said. */
  readonly empty: JsonObject;
  /** @param members JSON members that say which item an event is about */
  emit(item: JsonObject, members: string, frames: Frames): void;
}

const kinds: Readonly<Record<string, ItemKind>> = {
  message: { empty: { content: [] }, emit: emitParts },
  reasoning: { empty: { content: [], summary: [] }, emit: emitParts },
  function_call: { empty: { arguments: "" }, emit: emitArguments },
  custom_tool_call: {
    empty: { input: "" },
    emit: (item, members, frames) => emitText(frames, "response.custom_tool_call_input", members, "input", item),
  },
  web_search_call: { empty: {}, emit: steps("web_search_call", "in_progress", "searching", "completed") },
  file_search_call: {
    empty: { queries: [], results: null },
    emit: steps("file_search_call", "in_progress", "searching", "completed"),
  },
  image_generation_call: {
    empty: { result: null },
    emit: steps("image_generation_call", "in_progress", "generating", "completed"),
  },
  code_interpreter_call: { empty: { code: "", outputs: null }, emit: emitCode },
  mcp_call: { empty: { arguments: "", output: null, error: null }, emit: emitRemoteCall },
  mcp_list_tools: { empty: { tools: [], error: null }, emit: emitEnd("mcp_list_tools") },
  shell_call: { empty: {}, emit: emitCommands },
  shell_call_output: { empty: { output: [] }, emit: emitOutputs },
};

function kindOf({ type }: JsonObject): ItemKind | undefined {
  return typeof type === "string" && Object.hasOwn(kinds, type) ? kinds[type] : undefined;
}

/** The item before anything was said of it. */
export function announced(item: JsonObject): JsonObject {
  const kind = kindOf(item);
  const begun: MutableObject = { ...item };
  if (typeof item["status"] === "string") begun["status"] = "in_progress";
  for (const [name, value] of Object.entries(kind?.empty ?? {})) {
    if (Object.hasOwn(item, name)) begun[name] = value;
  }
  const { action } = item;
  if (item["type"] === "shell_call" && isObject(action)) begun["action"] = { ...action, commands: [] };
  return begun;
}

/** @param members JSON members that say which item an event is about */
export function emitItemEvents(item: JsonObject, members: string, frames: Frames): void {
  kindOf(item)?.emit(item, members, frames);
}

function steps(type: string, ...names: readonly string[]): ItemKind["emit"] {
  return (_item, members, frames) => {
    for (const name of names) frames.emit(`response.${type}.${name}`, members);
  };
}

/** @param member the item's text, also what the last event calls it */
function emitText(frames: Frames, event: string, members: string, member: string, item: JsonObject, more = ""): void {
  const text = item[member];
  if (typeof text !== "string") return;
  if (text !== "") frames.emit(`${event}.delta`, `${members},"delta":${JSON.stringify(text)}`);
  frames.emit(`${event}.done`, `${members}${more},"${member}":${JSON.stringify(text)}`);
}

function emitArguments(item: JsonObject, members: string, frames: Frames): void {
  const name = typeof item["name"] === "string" ? `,"name":${JSON.stringify(item["name"])}` : "";
  emitText(frames, "response.function_call_arguments", members, "arguments", item, name);
}

function emitCode(item: JsonObject, members: string, frames: Frames): void {
  frames.emit("response.code_interpreter_call.in_progress", members);
  emitText(frames, "response.code_interpreter_call_code", members, "code", item);
  frames.emit("response.code_interpreter_call.interpreting", members);
  frames.emit("response.code_interpreter_call.completed", members);
}

function emitRemoteCall(item: JsonObject, members: string, frames: Frames): void {
  frames.emit("response.mcp_call.in_progress", members);
  emitText(frames, "response.mcp_call_arguments", members, "arguments", item);
  frames.emit(`response.mcp_call.${hasFailed(item) ? "failed" : "completed"}`, members);
}

function emitEnd(type: string): ItemKind["emit"] {
  return (item, members, frames) => {
    frames.emit(`response.${type}.in_progress`, members);
    frames.emit(`response.${type}.${hasFailed(item) ? "failed" : "completed"}`, members);
  };
}

function hasFailed({ status, error }: JsonObject): boolean {
  return status === "failed" || (error !== null && error !== undefined);
}

/** These events know their item by its place alone. */
function emitCommands(item: JsonObject, members: string, frames: Frames): void {
  const place = members.slice(members.lastIndexOf('"output_index"'));
  const { action } = item;
  for (const [index, command] of asList(isObject(action) ? action["commands"] : undefined).entries()) {
    if (typeof command !== "string") continue;
    const named = `${place},"command_index":${index}`;
    const text = JSON.stringify(command);
    frames.emit("response.shell_call_command.added", `${named},"command":""`);
    if (command !== "") frames.emit("response.shell_call_command.delta", `${named},"delta":${text}`);
    frames.emit("response.shell_call_command.done", `${named},"command":${text}`);
  }
}

function emitOutputs(item: JsonObject, members: string, frames: Frames): void {
  for (const [index, output] of asList(item["output"]).entries()) {
    if (!isObject(output)) continue;
    const named = `${members},"command_index":${index}`;
    const delta: string[] = [];
    for (const name of ["stdout", "stderr"]) {
      const text = output[name];
      if (typeof text === "string" && text !== "") delta.push(`"${name}":${JSON.stringify(text)}`);
    }
    if (delta.length > 0)
      frames.emit("response.shell_call_output_content.delta", `${named},"delta":{${delta.join(",")}}`);
    frames.emit("response.shell_call_output_content.done", `${named},"output":[${JSON.stringify(output)}]`);
  }
}
