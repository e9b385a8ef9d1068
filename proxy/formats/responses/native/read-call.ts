/** Reads a scanned body as a responses call (docs/design/responses.md 2 and 3). */
import { GatewayError } from "#proxy/errors";
import {
  countMatches,
  findMatches,
  formatPath,
  pathPattern,
  presentMembers,
  watchedKeysOf,
} from "#proxy/formats/body/member-paths";
import {
  checkParameters,
  readCheckedCount,
  readFlag,
  requireMember,
  requireModel,
} from "#proxy/formats/body/parameter-rules";
import { toolObjects } from "#proxy/formats/body/tool-objects";
import { refuseForeignBody } from "#proxy/formats/body/wrong-protocol";
import type { ChatCall, ChatEndpoint } from "#proxy/formats/format";
import { type Hit, readString, type ScannedObject } from "#proxy/json/strict-json";
import { responsesParameters } from "./parameters.ts";

const attachments = ["image_url", "file_data", "file_url", "input_audio"].flatMap((name) => [
  pathPattern(`input.*.content.*.${name}`, "string", "object"),
  pathPattern(`input.*.output.*.${name}`, "string", "object"),
]);

const upstreamObjects = [
  pathPattern("input.*.content.*.file_id", "string"),
  pathPattern("input.*.output.*.file_id", "string"),
  pathPattern("input.*.container_id", "string"),
  pathPattern("input.*.environment.container_id", "string"),
  ...toolObjects,
  pathPattern("prompt_cache_options.comparison_response_id", "string"),
];
const upstreamMembers = ["previous_response_id", "conversation", "prompt"];

/** Keys the scan must report for `readCall`; the last four tell a reference from an item. */
export const watchedKeys = [...watchedKeysOf(attachments, upstreamObjects), "id", "type", "role", "result"];

const foreign = [
  { name: "contents", means: "contents", unless: "input" },
  { name: "generationConfig", means: "contents" },
  { name: "generation_config", means: "contents" },
  { name: "systemInstruction", means: "contents" },
  { name: "system", means: "messages" },
  { name: "messages", means: "chat" },
] as const;

export function readCall(body: ScannedObject, endpoint: ChatEndpoint): ChatCall {
  refuseForeignBody(body, foreign);
  const model = requireModel(body);
  // A stored prompt can bring its own input; whether it may be used is decided with the other references.
  if (presentMembers(body, ["prompt", "previous_response_id", "conversation"]).length === 0)
    requireMember(body, "input");
  checkParameters(body, responsesParameters);
  if (readFlag(body, "background")) {
    throw new GatewayError("unsupported_parameter", "'background' is not supported: send the call without it.", {
      param: "background",
    });
  }
  return {
    endpoint,
    model,
    stream: readFlag(body, "stream"),
    body,
    outputCap: readCheckedCount(body, "max_output_tokens"),
    candidates: 1,
    textBytes: body.textBytes,
    attachments: countMatches(body, attachments),
    wantsStreamUsage: true,
    upstreamObjects: [
      ...presentMembers(body, upstreamMembers),
      ...findItemReferences(body),
      ...findMatches(body, upstreamObjects, "OpenAI"),
    ],
  };
}

interface Item {
  id?: Hit;
  type?: string | undefined;
  hasRole?: boolean;
  hasResult?: boolean;
}

/**
 * A reference is an item of type `item_reference`, or one of an id alone: SDKs leave the type out. A picture that was
 * made earlier and comes without itself is one too: the provider looks it up by its id. A type or a role that is no
 * text, null above all, is as good as absent to a provider. As `responses-state/conversation-items.ts` finds them.
 */
function findItemReferences(body: ScannedObject): string[] {
  const items = new Map<string, Item>();
  for (const hit of body.hits) {
    const isItem =
      hit.path[0] === "input" && (hit.path.length === 3 ? typeof hit.path[1] === "number" : hit.path.length === 2);
    if (!isItem) continue;
    const key = hit.path.length === 3 ? String(hit.path[1]) : "";
    const item = items.get(key) ?? {};
    if (hit.key === "id" && hit.kind === "string") item.id = hit;
    else if (hit.key === "type" && hit.kind === "string") item.type = readString(body, hit);
    else if (hit.key === "role") item.hasRole = hit.kind === "string";
    else if (hit.key === "result") item.hasResult = hit.kind === "string" && readString(body, hit) !== "";
    items.set(key, item);
  }
  const references: string[] = [];
  for (const { id, type, hasRole, hasResult } of items.values()) {
    if (id === undefined) continue;
    const isPicture = type === "image_generation_call" && hasResult !== true;
    if (type === "item_reference" || isPicture || (type === undefined && hasRole !== true))
      references.push(formatPath(id.path, "OpenAI"));
  }
  return references;
}
