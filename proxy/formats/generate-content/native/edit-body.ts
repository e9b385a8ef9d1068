/**
 * Edits a generateContent body for one attempt on one target (`UpstreamFormat.editBody`): it changes the interface's
 * own spellings to those that the provider accepts. The path holds the model and whether to stream, so the body has
 * neither.
 */

import {
  applyPlanRules,
  applyUnsupportedPolicy,
  isAbsent,
  stripIdentity,
  wrapSingleTool,
} from "#proxy/formats/body/body-rules";
import { capOutput, outputMembers } from "#proxy/formats/body/output-members";
import type { ChatCall, UpstreamPlan } from "#proxy/formats/format";
import type { BodyEditor } from "#proxy/json/body-editor";
import { asList, isObject } from "#proxy/json/json-value";
import { generationNames, removeMember, snakeCase, topLevelNames } from "./spellings.ts";

export function editBody(call: ChatCall, plan: UpstreamPlan, editor: BodyEditor): readonly string[] {
  for (const name of topLevelNames) rename(editor, snakeCase(name), name);
  normaliseContents(call, editor);
  normaliseSystem(editor);
  wrapSingleTool(editor, call.body.member("tools")?.kind);
  normaliseGeneration(editor);
  for (const path of plan.unsupported ?? []) removeMember(editor, path);
  const dropped = applyUnsupportedPolicy(editor, plan, "GenerateContent");
  stripIdentity(editor, plan.channel, ["metadata", "user", "labels"]);
  applyPlanRules(editor, plan);
  editor.remove("model");
  editor.remove("stream");
  if (plan.outputCap !== undefined) capGeneration(editor, plan.outputCap);
  applyPrivacy(plan, editor);
  return dropped;
}

function rename(editor: BodyEditor, from: string, to: string): void {
  const text = from === to ? undefined : editor.text(from);
  if (text === undefined) return;
  editor.remove(from);
  if (isAbsent(editor, to)) editor.set(to, text);
}

/** Text, one content, one part, or a list of texts and parts: each becomes a list of contents. */
function normaliseContents(call: ChatCall, editor: BodyEditor): void {
  const { body } = call;
  const member = body.member("contents");
  if (member === undefined) return;
  if (member.kind === "array" && !isSugaredList(call)) return;
  const text = editor.text("contents");
  if (text === undefined) return;
  const value: unknown = JSON.parse(text);
  if (member.kind === "object" && isObject(value) && Object.hasOwn(value, "parts")) {
    editor.set("contents", `[${text}]`);
    return;
  }
  const parts = (Array.isArray(value) ? asList(value) : [value]).map((part) =>
    typeof part === "string" ? { text: part } : part,
  );
  editor.set("contents", JSON.stringify([{ role: "user", parts }]));
}

/** A list whose first element is a text or an object without `parts`; a usual list is not parsed for it. */
function isSugaredList(call: ChatCall): boolean {
  const { body } = call;
  const member = body.member("contents");
  if (member === undefined) return false;
  let position = member.valueStart + 1;
  while (isSpace(body.bytes[position])) position += 1;
  if (body.bytes[position] === 0x22) return true;
  if (body.bytes[position] !== 0x7b) return false;
  const isContent = body.hits.some((hit) => hit.key === "parts" && hit.path[0] === "contents" && hit.path[1] === 0);
  return (
    !isContent &&
    !/^\s*\{\s*(?:"role"\s*:\s*"[^"]*"\s*)?\}/.test(body.bytes.toString("latin1", position, position + 128))
  );
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;
}

function normaliseSystem(editor: BodyEditor): void {
  const text = editor.text("systemInstruction")?.trim();
  if (text?.startsWith('"') === true) editor.set("systemInstruction", `{"parts":[{"text":${text}}]}`);
}

/** Brings generation parameters from the top level and from snake_case to their place and name. */
function normaliseGeneration(editor: BodyEditor): void {
  const config = isAbsent(editor, "generationConfig") ? undefined : editor.nested("generationConfig");
  for (const name of generationNames) {
    const snake = snakeCase(name);
    if (config !== undefined) rename(config, snake, name);
    for (const spelled of new Set([name, snake])) {
      const text = editor.text(spelled);
      if (text === undefined) continue;
      editor.remove(spelled);
      const target = editor.nested("generationConfig");
      if (isAbsent(target, name)) target.set(name, text);
    }
  }
}

/** A body rule may have brought its own config, in either spelling. */
function capGeneration(editor: BodyEditor, cap: number): void {
  const { inside = [], caps } = outputMembers.GenerateContent;
  const configs = inside.filter((name) => !isAbsent(editor, name));
  for (const name of configs.length > 0 ? configs : ["generationConfig"]) {
    capOutput(editor.nested(name), cap, caps, "maxOutputTokens");
  }
}

function applyPrivacy(plan: UpstreamPlan, editor: BodyEditor): void {
  const { privacy } = plan.channel;
  if (privacy.store === "ForceFalse" && !isAbsent(editor, "store")) editor.set("store", "false");
  if (privacy.streamObfuscation === "Strip") editor.remove("stream_options");
}
