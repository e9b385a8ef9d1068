/** Reads a call of `:embedContent` or `:batchEmbedContents` (https://ai.google.dev/api/embeddings). */
import { GatewayError } from "#proxy/errors";
import { integerMax, invalidValue, requireList, requireMember } from "#proxy/formats/body/parameter-rules";
import { isAccountFile, refuseOtherModel } from "#proxy/formats/generate-content/native/read-call";
import { asList, asText, isObject, type JsonObject, member } from "#proxy/json/json-value";
import { readJson, type ScannedObject, scanJsonObject } from "#proxy/json/strict-json";
import type { ProxyLimits } from "#proxy/limits";
import { type EmbeddingCall, type EmbeddingPath, inputsMax } from "./embedding-call.ts";
import { dimensionNames } from "./embedding-fields.ts";

const mediaNames = ["inlineData", "inline_data", "fileData", "file_data"] as const;

/** Where the writer of the upstream's body finds the models that requests name. */
const watch = ["model"];

/** @throws GatewayError `missing_parameter`, `invalid_type`, `invalid_value` */
export function readEmbedContent(bytes: Buffer, endpoint: EmbeddingPath, limits: ProxyLimits): EmbeddingCall {
  const body = scanJsonObject(bytes, { depthMax: limits.jsonDepthMax, keysMax: limits.jsonKeysMax, watch });
  const model = endpoint.modelInPath ?? "";
  if (model === "") throw new GatewayError("missing_parameter", "The path names no model.", { param: "model" });
  if (endpoint.verb === "batchEmbedContents") refuseOtherModel(body, model);
  const requests = endpoint.verb === "batchEmbedContents" ? readRequests(body) : [readSingle(body)];
  const isSingle = endpoint.verb !== "batchEmbedContents";
  const upstreamObjects: string[] = [];
  let attachments = 0;
  let isText = true;
  for (const [index, request] of requests.entries()) {
    const prefix = isSingle ? "" : `requests[${index}].`;
    checkRequest(request, model, prefix);
    for (const [place, part] of partsOf(request).entries()) {
      isText &&= typeof member(part, "text") === "string";
      const media = mediaNames.map((name) => member(part, name)).filter((value) => value !== undefined);
      if (media.length > 0) attachments += 1;
      // A reader may take any of them, in either spelling.
      const uris = media.flatMap((each) => [asText(member(each, "fileUri")), asText(member(each, "file_uri"))]);
      if (uris.some(isAccountFile)) upstreamObjects.push(`${prefix}content.parts[${place}].fileData.fileUri`);
    }
  }
  return {
    endpoint,
    model,
    stream: false,
    body,
    upstreamObjects,
    inputs: requests.length,
    isText,
    tokenIds: 0,
    attachments,
    encoding: "float",
    asksForFloats: true,
    requests,
  };
}

/** Parts of a request's content. */
export function partsOf(request: JsonObject): readonly unknown[] {
  const parts = member(member(request, "content"), "parts");
  return isObject(parts) ? [parts] : asList(parts);
}

function readSingle(body: ScannedObject): JsonObject {
  requireMember(body, "content");
  const request: unknown = JSON.parse(body.bytes.toString("utf8"));
  return isObject(request) ? request : {};
}

function readRequests(body: ScannedObject): readonly JsonObject[] {
  requireList(body, "requests");
  const requests = asList(readJson(body, requireMember(body, "requests")));
  if (requests.length > inputsMax) throw invalidValue("requests", `must hold at most ${inputsMax} requests`);
  return requests.map((request, index) => {
    if (isObject(request)) return request;
    const param = `requests[${index}]`;
    throw new GatewayError("invalid_type", `'${param}' must be an object.`, { param });
  });
}

function checkRequest(request: JsonObject, model: string, prefix: string): void {
  const param = `${prefix}content`;
  const content = member(request, "content") ?? undefined;
  if (content === undefined) {
    throw new GatewayError("missing_parameter", `Missing required parameter: '${param}'.`, { param });
  }
  if (!isObject(content)) throw new GatewayError("invalid_type", `'${param}' must be an object.`, { param });
  if (partsOf(request).length === 0) throw invalidValue(`${param}.parts`, "must not be empty");
  const named = member(request, "model");
  if (named !== undefined && named !== null && named !== model && named !== `models/${model}`) {
    throw invalidValue(`${prefix}model`, "differs from the model in the path");
  }
  for (const name of dimensionNames) checkDimensions(member(request, name), prefix + name);
}

function checkDimensions(value: unknown, param: string): void {
  if (value === undefined || value === null) return;
  if (typeof value !== "number" || !Number.isInteger(value)) {
    throw new GatewayError("invalid_type", `'${param}' must be an integer.`, { param });
  }
  if (value < 1 || value > integerMax) throw invalidValue(param, "must be at least 1");
}
