/** Writes calls of the image endpoints for Google's formats: what all of them have in common (docs/design/images.md 5). */

import type { FurtherRequests } from "#proxy/endpoints/dialects/dialect";
import type { ImageCall } from "#proxy/endpoints/images/call/image-call";
import type { ImageContext } from "#proxy/endpoints/images/call/image-context";
import { GatewayError } from "#proxy/errors";
import { applyBodyRules } from "#proxy/formats/body/body-rules";
import { MemberTexts } from "#proxy/formats/body/member-texts";
import { presentMember, readCheckedText } from "#proxy/formats/body/parameter-rules";
import type { UpstreamPlan } from "#proxy/formats/format";
import { readNumber } from "#proxy/json/strict-json";
import type { WrittenRequest } from "#proxy/upstream/request/build-upstream-request";
import { type GoogleFormat, GooglePictures } from "./google-reader.ts";

/** Members of the client's that a format has a place for, or that change nothing there. */
const alwaysSaid: ReadonlySet<string> = new Set(["model", "prompt", "n", "size", "stream", "partial_images"]);

/** Where the pictures of an edit are. */
const sourceNames: ReadonlySet<string> = new Set(["image", "images"]);

/** What is asked for anyway where nobody asks. */
const usualValues: Readonly<Record<string, readonly string[]>> = {
  quality: ["auto", "standard"],
  background: ["auto", "opaque"],
  moderation: ["auto"],
  output_format: ["png"],
  response_format: ["b64_json"],
};

/**
 * The members of the client's that the upstream does not get.
 * @param said further members that the format has a place for
 * @throws GatewayError `unsupported_parameter` under `unsupportedParameters: Reject`
 */
export function lostMembers(call: ImageCall, plan: UpstreamPlan, said: readonly string[]): readonly string[] {
  const { body, endpoint } = call;
  const lost: string[] = [];
  const isEdit = endpoint.format === "ImageEdits";
  for (const { name, kind } of body.members) {
    if (kind === "null" || alwaysSaid.has(name) || said.includes(name) || isUnsupported(name, plan)) continue;
    if (isEdit && sourceNames.has(name)) continue;
    const usual = Object.hasOwn(usualValues, name) ? usualValues[name] : undefined;
    if (usual?.includes(readCheckedText(call.body, name) ?? "") !== true) lost.push(name);
  }
  const [param] = lost;
  if (param !== undefined && plan.channel.unsupportedParameters === "Reject") {
    throw new GatewayError("unsupported_parameter", `'${param}' is not supported by this model's provider.`, { param });
  }
  return lost;
}

/** Named by the route as what the model does not take; it is left out and declared already. */
function isUnsupported(name: string, { unsupported }: UpstreamPlan): boolean {
  return unsupported?.includes(name) === true;
}

/** A text that the client gave, unless the model does not take it. */
export function textValue(call: ImageCall, name: string, plan: UpstreamPlan): string | undefined {
  return isUnsupported(name, plan) ? undefined : readCheckedText(call.body, name);
}

/** A number that the client gave, unless the model does not take it. */
export function numberValue({ body }: ImageCall, name: string, plan: UpstreamPlan): number | undefined {
  return isUnsupported(name, plan) ? undefined : readNumber(body, presentMember(body, name));
}

/** @returns undefined where one request makes all of the reply */
export function furtherRequests(
  requests: readonly WrittenRequest[],
  call: ImageCall,
  context: ImageContext,
  format: GoogleFormat,
): FurtherRequests | undefined {
  return requests.length === 0 ? undefined : { requests, reply: new GooglePictures(call, context, format) };
}

/** A body by its members, with the rules of channel and target applied to them. */
export function ruledMembers(
  members: Readonly<Record<string, unknown>>,
  { channel, targetRules }: UpstreamPlan,
): MemberTexts {
  const texts = new MemberTexts();
  for (const [name, value] of Object.entries(members)) if (value !== undefined) texts.set(name, JSON.stringify(value));
  applyBodyRules(texts, channel.body);
  applyBodyRules(texts, targetRules);
  return texts;
}
