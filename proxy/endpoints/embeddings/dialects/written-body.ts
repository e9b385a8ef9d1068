/** Finishes a body that a dialect wrote of a client's call: rules of channel and target apply to it as to any other. */
import { applyPlanRules } from "#proxy/formats/body/body-rules";
import type { UpstreamPlan } from "#proxy/formats/format";
import { BodyEditor } from "#proxy/json/body-editor";
import type { JsonObject } from "#proxy/json/json-value";
import { scanMembers } from "#proxy/json/strict-json";

/** @param members those that are undefined are left out; no rule changes `model` */
export function writtenBody(members: JsonObject, plan: UpstreamPlan): Buffer {
  const body = Buffer.from(JSON.stringify(members));
  if (!hasRules(plan)) return body;
  const editor = new BodyEditor(scanMembers(body, 0, body.length));
  applyPlanRules(editor, plan);
  if (members["model"] !== undefined) editor.set("model", JSON.stringify(members["model"]));
  return editor.build();
}

export function hasRules({ channel, targetRules }: UpstreamPlan): boolean {
  return channel.body !== undefined || targetRules !== undefined;
}
