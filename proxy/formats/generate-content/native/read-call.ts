/**
 * Reads a scanned body as a generateContent call (docs/design/generate-content.md 1 to 3); the model is in the path.
 */
import { GatewayError } from "#proxy/errors";
import { formatPath } from "#proxy/formats/body/member-paths";
import { checkParameters, requireMember } from "#proxy/formats/body/parameter-rules";
import { refuseForeignBody } from "#proxy/formats/body/wrong-protocol";
import type { ChatCall, ChatEndpoint } from "#proxy/formats/format";
import { type Hit, readNumber, readString, type ScannedObject } from "#proxy/json/strict-json";
import { generationParameters, topLevelParameters } from "./parameters.ts";
import { findEither, GenerationMembers, topLevelNames } from "./spellings.ts";

const mediaKeys = new Set(["inlineData", "inline_data", "fileData", "file_data"]);
const uriKeys = new Set(["fileUri", "file_uri"]);
const storeKeys = new Set(["fileSearchStoreNames", "file_search_store_names"]);
const userData = new Set<string | number>(["args", "response", "parameters", "parametersJsonSchema", "labels"]);

/** Keys the scan must report for `readCall` and `editBody`. */
export const watchedKeys = [...mediaKeys, ...uriKeys, ...storeKeys, "retrieval", "parts"];

/** A file that the upstream account holds: uploaded through the Files API, or in its own storage. */
const accountFile = /^(?:files\/|gs:\/\/|https?:\/\/[^/]*googleapis\.com\/(?:[^?#]*\/)?files\/)/i;

/** Whether an address is that of such a file. */
export function isAccountFile(uri: string): boolean {
  return accountFile.test(uri);
}

const foreign = [
  { name: "system", means: "messages", unless: "contents" },
  { name: "messages", means: "chat", unless: "contents" },
  { name: "input", means: "responses", unless: "contents" },
] as const;

export function readCall(body: ScannedObject, endpoint: ChatEndpoint): ChatCall {
  refuseForeignBody(body, foreign);
  const model = endpoint.modelInPath ?? "";
  if (model === "") throw new GatewayError("missing_parameter", "The path names no model.", { param: "model" });
  refuseOtherModel(body, model);
  requireMember(body, "contents");
  checkParameters(body, topLevelParameters);
  for (const name of topLevelNames) findEither(body, name);
  const generation = new GenerationMembers(body);
  for (const rule of generationParameters) {
    const found = generation.find(rule.name);
    if (found === undefined) continue;
    const prefix = found.param.slice(0, found.param.length - found.name.length);
    checkParameters(found.object, [{ ...rule, name: found.name }], prefix);
  }
  return {
    endpoint,
    model,
    stream: endpoint.geminiStream !== undefined,
    body,
    outputCap: countOf(generation, "maxOutputTokens"),
    candidates: countOf(generation, "candidateCount") ?? 1,
    textBytes: body.textBytes,
    attachments: body.hits.filter((hit) => mediaKeys.has(hit.key) && isOurs(hit, "object")).length,
    wantsStreamUsage: true,
    upstreamObjects: findUpstreamObjects(body),
  };
}

/** The path names the model; a body that names another one means two models to two readers. */
export function refuseOtherModel(body: ScannedObject, model: string): void {
  const member = body.member("model");
  if (member === undefined || member.kind === "null") return;
  const named = readString(body, member);
  if (named === model || named === `models/${model}`) return;
  throw new GatewayError("invalid_value", "'model' differs from the model in the path; leave it out.", {
    param: "model",
  });
}

function countOf(generation: GenerationMembers, name: string): number | undefined {
  const found = generation.find(name);
  return found === undefined ? undefined : readNumber(found.object, found.member);
}

/** Arguments, results and schemas may hold members of any name. */
function isOurs(hit: Hit, kind: Hit["kind"]): boolean {
  return hit.kind === kind && !hit.path.some((step) => userData.has(step));
}

function findUpstreamObjects(body: ScannedObject): string[] {
  const found: string[] = [];
  const cached = findEither(body, "cachedContent");
  if (cached !== undefined) found.push(cached.param);
  for (const hit of body.hits) {
    const isFile = uriKeys.has(hit.key) && isOurs(hit, "string") && isAccountFile(readString(body, hit) ?? "");
    const isStore = storeKeys.has(hit.key) && isOurs(hit, "array");
    const isRetrieval =
      hit.key === "retrieval" && hit.path[0] === "tools" && hit.path.length <= 3 && isOurs(hit, "object");
    if (isFile || isStore || isRetrieval) found.push(formatPath(hit.path, "Gemini"));
  }
  return found;
}
