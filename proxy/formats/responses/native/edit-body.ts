/** Edits a responses body for one attempt on one target (`UpstreamFormat.editBody`). */

import {
  applyPlanRules,
  applyUnsupportedPolicy,
  enforceOpenAIPrivacy,
  openAIMetadata,
  removeUnsupported,
  stripIdentity,
  userText,
  wrapSingleTool,
} from "#proxy/formats/body/body-rules";
import { capOutput, outputMembers } from "#proxy/formats/body/output-members";
import type { ChatCall, UpstreamPlan } from "#proxy/formats/format";
import type { BodyEditor } from "#proxy/json/body-editor";

export function editBody(call: ChatCall, plan: UpstreamPlan, editor: BodyEditor): readonly string[] {
  wrapSingleTool(editor, call.body.member("tools")?.kind);
  if (call.body.member("input")?.kind === "object") editor.set("input", `[${editor.text("input") ?? ""}]`);
  const user = userText(editor, call.body.member("user")?.kind);
  if (user !== undefined) editor.set("user", JSON.stringify(user));
  removeUnsupported(editor, plan);
  const dropped = applyUnsupportedPolicy(editor, plan, "Responses");
  stripIdentity(editor, plan.channel, openAIMetadata);
  applyPlanRules(editor, plan);
  editor.set("model", JSON.stringify(plan.upstreamModel));
  if (plan.outputCap !== undefined)
    capOutput(editor, plan.outputCap, outputMembers.Responses.caps, "max_output_tokens");
  enforceOpenAIPrivacy(editor, plan.channel);
  return dropped;
}
