/** Edits a chat completions body for one attempt on one target (`UpstreamFormat.editBody`). */

import {
  applyPlanRules,
  applyUnsupportedPolicy,
  enforceOpenAIPrivacy,
  isAbsent,
  openAIMetadata,
  removeUnsupported,
  renameMembers,
  stripIdentity,
  userText,
  wrapSingleTool,
} from "#proxy/formats/body/body-rules";
import { capOutput, outputMembers } from "#proxy/formats/body/output-members";
import type { ChatCall, UpstreamPlan } from "#proxy/formats/format";
import type { BodyEditor } from "#proxy/json/body-editor";
import { providerOf } from "#proxy/providers/providers";

export function editBody(call: ChatCall, plan: UpstreamPlan, editor: BodyEditor): readonly string[] {
  wrapSingleTool(editor, call.body.member("tools")?.kind);
  const user = userText(editor, call.body.member("user")?.kind);
  if (user !== undefined) editor.set("user", JSON.stringify(user));
  removeUnsupported(editor, plan);
  const provider = providerOf(plan.channel);
  if (!provider.takesStreamOptions) editor.remove("stream_options");
  // Without it the provider sends no usage in a stream, and nothing could be billed but an estimate.
  else if (call.stream && !call.wantsStreamUsage) editor.nested("stream_options").set("include_usage", "true");
  renameMembers(editor, plan.channel, "ChatCompletions");
  const dropped = applyUnsupportedPolicy(editor, plan, "ChatCompletions");
  stripIdentity(editor, plan.channel, openAIMetadata);
  applyPlanRules(editor, plan);
  editor.set("model", JSON.stringify(plan.upstreamModel));
  if (plan.outputCap !== undefined)
    capOutput(editor, plan.outputCap, outputMembers.ChatCompletions.caps, provider.chatCapMember);
  enforceOpenAIPrivacy(editor, plan.channel);
  if (!call.stream && isAbsent(editor, "stream_options")) editor.remove("stream_options");
  return dropped;
}
