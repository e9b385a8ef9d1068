/**
 * Edits a messages body for one attempt on one target (`UpstreamFormat.editBody`).
 *
 * The format has no member for the interface's common `user`: it becomes `metadata.user_id` unless the client set one.
 */

import {
  applyPlanRules,
  applyUnsupportedPolicy,
  isAbsent,
  removeUnsupported,
  stripIdentity,
  userText,
} from "#proxy/formats/body/body-rules";
import { capOutput, outputMembers } from "#proxy/formats/body/output-members";
import type { ChatCall, UpstreamPlan } from "#proxy/formats/format";
import type { BodyEditor } from "#proxy/json/body-editor";

export function editBody(call: ChatCall, plan: UpstreamPlan, editor: BodyEditor): readonly string[] {
  const { privacy } = plan.channel;
  moveUser(call, editor);
  removeUnsupported(editor, plan);
  const dropped = applyUnsupportedPolicy(editor, plan, "Messages");
  stripIdentity(editor, plan.channel, ["metadata"]);
  applyPlanRules(editor, plan);
  editor.set("model", JSON.stringify(plan.upstreamModel));
  if (plan.outputCap !== undefined) capOutput(editor, plan.outputCap, outputMembers.Messages.caps, "max_tokens");
  if (privacy.store === "ForceFalse" && !isAbsent(editor, "store")) editor.set("store", "false");
  if (privacy.streamObfuscation === "Strip") editor.remove("stream_options");
  return dropped;
}

function moveUser(call: ChatCall, editor: BodyEditor): void {
  const member = call.body.member("user");
  if (member === undefined) return;
  const text = userText(editor, member.kind);
  const userJson = text === undefined ? editor.text("user") : JSON.stringify(text);
  editor.remove("user");
  if (member.kind === "null" || userJson === undefined) return;
  const metadata = editor.nested("metadata");
  if (isAbsent(metadata, "user_id")) metadata.set("user_id", userJson);
}
