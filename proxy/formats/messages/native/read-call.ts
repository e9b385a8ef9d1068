/** Reads a scanned body as a messages call (docs/design/messages.md 2 and 3). */
import { GatewayError } from "#proxy/errors";
import {
  countMatches,
  findMatches,
  pathPattern,
  presentMembers,
  watchedKeysOf,
} from "#proxy/formats/body/member-paths";
import {
  checkParameters,
  presentMember,
  readCheckedCount,
  readFlag,
  requireList,
  requireModel,
} from "#proxy/formats/body/parameter-rules";
import { bodyAddresses, refuseForeignBody } from "#proxy/formats/body/wrong-protocol";
import type { ChatCall, ChatEndpoint } from "#proxy/formats/format";
import { type ScannedObject, scanMembers } from "#proxy/json/strict-json";
import { messagesParameters, thinkingParameters } from "./parameters.ts";

const attachments = [
  pathPattern("messages.*.content.*.source", "object"),
  pathPattern("messages.*.content.*.content.*.source", "object"),
];

/** Objects that the upstream account holds; another tenant of the same account could own them. */
const upstreamObjects = [
  pathPattern("messages.*.content.*.source.file_id", "string"),
  pathPattern("messages.*.content.*.source.content.*.source.file_id", "string"),
  pathPattern("messages.*.content.*.content.*.source.file_id", "string"),
  pathPattern("messages.*.content.*.file_id", "string"),
  pathPattern("diagnostics.previous_message_id", "string"),
];
const upstreamMembers = ["container", "thread"];

/** Keys the scan must report for `readCall`. */
export const watchedKeys = watchedKeysOf(attachments, upstreamObjects);

const foreign = [
  { name: "contents", means: "contents", unless: "messages" },
  { name: "generationConfig", means: "contents" },
  { name: "generation_config", means: "contents" },
  { name: "systemInstruction", means: "contents" },
  { name: "input", means: "responses", unless: "messages" },
  { name: "max_completion_tokens", means: "chat", unless: "max_tokens" },
] as const;

/** Without it the body may as well be a chat completions body, so the refusal names that address too. */
function requireMaxTokens(body: ScannedObject): void {
  if (presentMember(body, "max_tokens") !== undefined) return;
  throw new GatewayError(
    "missing_parameter",
    `Missing required parameter: 'max_tokens'. If this is a ${bodyAddresses.chat}.`,
    { param: "max_tokens" },
  );
}

export function readCall(body: ScannedObject, endpoint: ChatEndpoint): ChatCall {
  refuseForeignBody(body, foreign);
  const model = requireModel(body);
  requireList(body, "messages");
  requireMaxTokens(body);
  checkParameters(body, messagesParameters);
  const thinking = presentMember(body, "thinking");
  if (thinking !== undefined) {
    checkParameters(scanMembers(body.bytes, thinking.valueStart, thinking.valueEnd), thinkingParameters, "thinking.");
  }
  return {
    endpoint,
    model,
    stream: readFlag(body, "stream"),
    body,
    outputCap: readCheckedCount(body, "max_tokens"),
    candidates: 1,
    textBytes: body.textBytes,
    attachments: countMatches(body, attachments),
    wantsStreamUsage: true,
    upstreamObjects: [...presentMembers(body, upstreamMembers), ...findMatches(body, upstreamObjects, "Anthropic")],
  };
}
