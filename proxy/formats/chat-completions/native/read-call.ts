/** Reads a scanned body as a chat completions call (docs/design/chat-completions.md 2 and 3). */

import {
  countMatches,
  findMatches,
  pathPattern,
  presentMembers,
  watchedKeysOf,
} from "#proxy/formats/body/member-paths";
import { outputMembers } from "#proxy/formats/body/output-members";
import {
  checkParameters,
  presentMember,
  readCheckedCount,
  readFlag,
  requireList,
  requireModel,
} from "#proxy/formats/body/parameter-rules";
import { toolObjects } from "#proxy/formats/body/tool-objects";
import { refuseForeignBody } from "#proxy/formats/body/wrong-protocol";
import type { ChatCall, ChatEndpoint } from "#proxy/formats/format";
import { type ScannedObject, scanMembers } from "#proxy/json/strict-json";
import { chatParameters, streamOptionParameters } from "./parameters.ts";

const attachments = [
  pathPattern("messages.*.content.*.image_url", "object", "string"),
  pathPattern("messages.*.content.*.input_audio", "object"),
  pathPattern("messages.*.content.*.file", "object"),
  pathPattern("messages.*.content.*.video_url", "object", "string"),
];

/** Objects that the upstream account holds; another tenant of the same account could own them. */
const upstreamObjects = [
  pathPattern("messages.*.content.*.file.file_id", "string"),
  pathPattern("messages.*.content.*.file_id", "string"),
  pathPattern("messages.*.content.*.image_file.file_id", "string"),
  pathPattern("messages.*.audio", "object"),
  ...toolObjects,
  pathPattern("tools.*.container", "object"),
];
const upstreamMembers = ["previous_response_id", "conversation"];

/** Keys the scan must report for `readCall`. */
export const watchedKeys = watchedKeysOf(attachments, upstreamObjects);

const foreign = [
  { name: "contents", means: "contents", unless: "messages" },
  { name: "generationConfig", means: "contents" },
  { name: "generation_config", means: "contents" },
  { name: "systemInstruction", means: "contents" },
  { name: "input", means: "responses", unless: "messages" },
  { name: "system", means: "messages" },
] as const;

export function readCall(body: ScannedObject, endpoint: ChatEndpoint): ChatCall {
  refuseForeignBody(body, foreign);
  const model = requireModel(body);
  requireList(body, "messages");
  checkParameters(body, chatParameters);
  return {
    endpoint,
    model,
    stream: readFlag(body, "stream"),
    body,
    outputCap: readCap(body),
    candidates: readCheckedCount(body, "n") ?? 1,
    textBytes: body.textBytes,
    attachments: countMatches(body, attachments),
    wantsStreamUsage: wantsStreamUsage(body),
    upstreamObjects: [...presentMembers(body, upstreamMembers), ...findMatches(body, upstreamObjects, "OpenAI")],
  };
}

/** The larger of two caps: both pass, and many servers know `max_tokens` alone. A translation sends the newer one. */
function readCap(body: ScannedObject): number | undefined {
  let larger: number | undefined;
  for (const name of outputMembers.ChatCompletions.caps) {
    const cap = readCheckedCount(body, name);
    if (cap !== undefined) larger = Math.max(larger ?? cap, cap);
  }
  return larger;
}

/** Whether a client asks for usage in its stream. @throws GatewayError for `stream_options` that are none */
export function wantsStreamUsage(body: ScannedObject): boolean {
  const options = presentMember(body, "stream_options");
  if (options?.kind !== "object") return false;
  const members = scanMembers(body.bytes, options.valueStart, options.valueEnd);
  checkParameters(members, streamOptionParameters, "stream_options.");
  return readFlag(members, "include_usage");
}
