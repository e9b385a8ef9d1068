/** Edits a chat completions body for one attempt on one target (`UpstreamFormat.editBody`). */

import {
  applyPlanRules,
  applyUnsupportedPolicy,
  enforceOpenAIPrivacy,
  isAbsent,
  openAIMetadata,
  removeUnsupported,
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
  // Without it the provider sends no usage in a stream, and nothing could be billed but an estimate.
  if (call.stream && !call.wantsStreamUsage) editor.nested("stream_options").set("include_usage", "true");
  const dropped = applyUnsupportedPolicy(editor, plan, "ChatCompletions");
  stripIdentity(editor, plan.channel, openAIMetadata);
  applyPlanRules(editor, plan);
  editor.set("model", JSON.stringify(plan.upstreamModel));
  if (plan.outputCap !== undefined)
    capOutput(editor, plan.outputCap, outputMembers.ChatCompletions.caps, providerOf(plan.channel).chatCapMember);
  enforceOpenAIPrivacy(editor, plan.channel);
  if (!call.stream && isAbsent(editor, "stream_options")) editor.remove("stream_options");
  return dropped;
}
