/**
 * Reads a request for a token count as the chat call whose prompt it counts (docs/design/messages.md 9,
 * docs/design/generate-content.md 7).
 *
 * Members that a count request leaves out are filled with neutral values, so that the format's own strict reader
 * checks the rest.
 */
import { GatewayError } from "#proxy/errors";
import type { ChatCall, ChatEndpoint } from "#proxy/formats/format";
import { clientFormats } from "#proxy/formats/registry";
import { parseJsonText } from "#proxy/json/json-text";
import { isObject, type JsonObject } from "#proxy/json/json-value";
import { type ScannedObject, scanJsonObject } from "#proxy/json/strict-json";
import type { ProxyLimits } from "#proxy/limits";
import type { CountingFormat } from "./count-format.ts";

/** A count is asked for in the format of the chat call whose prompt it counts. */
export interface CountMatch extends ChatEndpoint {
  readonly format: CountingFormat;
}

/** @throws GatewayError as the chat format's own reader does */
export function readCountCall(bytes: Buffer, endpoint: CountMatch, limits: ProxyLimits): ChatCall {
  const format = clientFormats[endpoint.format];
  const scan = (body: Buffer): ScannedObject =>
    scanJsonObject(body, { depthMax: limits.jsonDepthMax, keysMax: limits.jsonKeysMax, watch: format.watchedKeys });
  scan(bytes);
  const body = parseJsonText(bytes.toString("utf8"));
  if (!isObject(body)) throw new TypeError("a scanned body is an object");
  const prompt =
    endpoint.format === "Messages" ? { ...body, max_tokens: 1, stream: false } : geminiPrompt(body, endpoint);
  return format.readCall(scan(Buffer.from(JSON.stringify(prompt))), endpoint);
}

/** Either the contents alone, or a whole request of generateContent in a member. */
function geminiPrompt(body: JsonObject, { modelInPath = "" }: CountMatch): JsonObject {
  const whole = body["generateContentRequest"] ?? body["generate_content_request"];
  if (whole === undefined) return body;
  if (!isObject(whole)) {
    throw new GatewayError("invalid_type", "'generateContentRequest' must be an object.", {
      param: "generateContentRequest",
    });
  }
  const { model, ...prompt } = whole;
  if (typeof model === "string" && model !== modelInPath && model !== `models/${modelInPath}`) {
    throw new GatewayError("invalid_value", "'generateContentRequest.model' differs from the model in the path.", {
      param: "generateContentRequest.model",
    });
  }
  return prompt;
}
