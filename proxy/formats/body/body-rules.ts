/**
 * Edits a request body in the ways that all formats share: channel and target rules, fields that a provider does not
 * know, the privacy table of docs/design/interface.md 3, and a single tool that should have been a list.
 */
import { GatewayError } from "#proxy/errors";
import type { UpstreamPlan } from "#proxy/formats/format";
import type { BodyEditor } from "#proxy/json/body-editor";
import { providerOf } from "#proxy/providers/providers";
import type { BodyRules, Channel, WireFormat } from "#proxy/snapshot/types.gen";
import { removeAt } from "./member-at.ts";

/** What rules need of an editor. */
export type EditableMembers = Pick<BodyEditor, "text" | "set" | "remove">;

/** In the order that the resources promise: `remove`, then `default` fills what is absent or null, then `set` wins. */
export function applyBodyRules(editor: EditableMembers, rules: BodyRules | undefined): void {
  if (rules === undefined) return;
  for (const field of rules.remove ?? []) editor.remove(field);
  for (const { field, value } of rules.default ?? [])
    if (isAbsent(editor, field)) editor.set(field, JSON.stringify(value));
  for (const { field, value } of rules.set ?? []) editor.set(field, JSON.stringify(value));
}

/** The channel's rules, then the target's. */
export function applyPlanRules(editor: BodyEditor, plan: UpstreamPlan): void {
  applyBodyRules(editor, plan.channel.body);
  applyBodyRules(editor, plan.targetRules);
}

/** Neither there nor anything but null. */
export function isAbsent(editor: EditableMembers, name: string): boolean {
  const text = editor.text(name);
  return text === undefined || text.trim() === "null";
}

const none: readonly string[] = [];

/** Gives members the names that they have at the provider; one that is there under that name already counts. */
export function renameMembers(editor: BodyEditor, channel: Channel, format: WireFormat): void {
  const names = providerOf(channel).renamed[format];
  if (names === undefined) return;
  for (const [from, to] of Object.entries(names)) {
    const text = editor.text(from);
    if (text === undefined) continue;
    if (isAbsent(editor, to)) editor.set(to, text);
    editor.remove(from);
  }
}

/**
 * Takes out what the provider is known not to support, or refuses it, by the client's names.
 * @returns what was taken out
 * @throws GatewayError `unsupported_parameter` under `unsupportedParameters: Reject`
 */
export function applyUnsupportedPolicy(
  editor: BodyEditor,
  { channel, clientsName }: UpstreamPlan,
  format: WireFormat,
): readonly string[] {
  let dropped: string[] | undefined;
  for (const name of providerOf(channel).unsupported[format] ?? none) {
    if (isAbsent(editor, name)) continue;
    const param = clientsName === undefined ? name : clientsName(name);
    if (param !== undefined && channel.unsupportedParameters === "Reject") {
      throw new GatewayError("unsupported_parameter", `'${param}' is not supported by this model's provider.`, {
        param,
      });
    }
    editor.remove(name);
    if (param === undefined) continue;
    dropped ??= [];
    dropped.push(param);
  }
  return dropped ?? none;
}

/** What the route's model does not support, in formats whose members have one spelling. */
export function removeUnsupported(editor: BodyEditor, { unsupported }: UpstreamPlan): void {
  for (const path of unsupported ?? none) removeAt(editor, path);
}

/**
 * Takes out who the client says it is, by the channel's privacy settings. Before the channel's own rules: what they set in
 * its place is meant to go upstream.
 *
 * @param metadataNames members of the format that hold client metadata
 */
export function stripIdentity(editor: BodyEditor, { privacy }: Channel, metadataNames: readonly string[]): void {
  if (privacy.safetyIdentifier === "Strip") editor.remove("safety_identifier");
  if (privacy.clientMetadata === "Strip") for (const name of metadataNames) editor.remove(name);
}

export const openAIMetadata: readonly string[] = ["metadata", "user"];

/** `store` and obfuscation by the channel's privacy settings (OpenAI-style members), whatever its rules set. */
export function enforceOpenAIPrivacy(editor: BodyEditor, channel: Channel): void {
  if (channel.privacy.store === "ForceFalse") editor.set("store", "false");
  stripObfuscation(editor, channel);
}

/**
 * `stream_options` without a member is refused by some providers, so it goes with its last one. The member is found by
 * its name and not by its text, which may be spelled with escapes.
 */
function stripObfuscation(editor: BodyEditor, channel: Channel): void {
  if (channel.privacy.streamObfuscation === "Forward") return;
  // A body rule may have put something else there.
  if (editor.text("stream_options")?.trimStart().startsWith("{") !== true) return;
  editor.nested("stream_options").remove("include_obfuscation");
  if (/^\{\s*\}$/.test(editor.text("stream_options")?.trim() ?? "")) editor.remove("stream_options");
}

/** `tools` as a single object (docs/design/interface.md 2.4, 2.6) becomes a list of one. */
export function wrapSingleTool(editor: BodyEditor, kind: string | undefined): void {
  if (kind === "object") editor.set("tools", `[${editor.text("tools") ?? ""}]`);
}

/**
 * `user` as an object (docs/design/interface.md 2.1): providers take a string, so its `id`, `user_id` or `name`, else
 * its JSON.
 * @returns the text to send, or undefined when the value is no object
 */
export function userText(editor: BodyEditor, kind: string | undefined): string | undefined {
  const text = editor.text("user");
  if (kind !== "object" || text === undefined) return undefined;
  const value: unknown = JSON.parse(text);
  for (const name of ["id", "user_id", "name"]) {
    const named = typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
    if (typeof named === "string" && Object.hasOwn(Object(value), name)) return named;
  }
  return JSON.stringify(value);
}
