/** Edits a client's JSON body for an upstream that speaks the client's format: everything else stays as it was written. */
import {
  applyPlanRules,
  applyUnsupportedPolicy,
  enforceOpenAIPrivacy,
  openAIMetadata,
  removeUnsupported,
  renameMembers,
  stripIdentity,
  userText,
} from "#proxy/formats/body/body-rules";
import type { UpstreamPlan } from "#proxy/formats/format";
import { BodyEditor } from "#proxy/json/body-editor";
import type { ScannedObject } from "#proxy/json/strict-json";
import type { WireFormat } from "#proxy/snapshot/types.gen";
import type { WrittenCall } from "./dialect.ts";

/**
 * The body with the edits of `editMembers`.
 *
 * @param edit what the endpoint itself changes, before any rule: what the model does not support is gone already, by
 *   whichever name the upstream would have got it
 * @param finish what it changes after all rules
 * @throws GatewayError `unsupported_parameter` under `unsupportedParameters: Reject`
 */
export function editJsonBody(
  body: ScannedObject,
  format: WireFormat,
  plan: UpstreamPlan,
  edit?: (editor: BodyEditor) => void,
  finish?: (editor: BodyEditor) => void,
): WrittenCall {
  const editor = new BodyEditor(body);
  removeUnsupported(editor, plan);
  edit?.(editor);
  const dropped = editMembers(editor, body, format, plan);
  finish?.(editor);
  return { body: editor.build(), dropped };
}

/**
 * Applies, in this order: `user` as the text that providers take, what model and provider do not support, names of the
 * provider's own, the privacy table, the channel's and the target's rules, the upstream's model name.
 *
 * @returns fields of the client's that were dropped
 * @throws GatewayError `unsupported_parameter` under `unsupportedParameters: Reject`
 */
export function editMembers(
  editor: BodyEditor,
  body: ScannedObject,
  format: WireFormat,
  plan: UpstreamPlan,
): readonly string[] {
  const user = userText(editor, body.member("user")?.kind);
  if (user !== undefined) editor.set("user", JSON.stringify(user));
  removeUnsupported(editor, plan);
  const dropped = applyUnsupportedPolicy(editor, plan, format);
  renameMembers(editor, plan.channel, format);
  stripIdentity(editor, plan.channel, openAIMetadata);
  applyPlanRules(editor, plan);
  editor.set("model", JSON.stringify(plan.upstreamModel));
  if (editor.has("store") || editor.has("stream_options")) enforceOpenAIPrivacy(editor, plan.channel);
  return dropped;
}
