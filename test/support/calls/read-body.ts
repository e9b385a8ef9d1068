/** Reads and edits bodies of the chat formats in tests, from plain objects or JSON text. */

import { GatewayError } from "#proxy/errors";
import type { CallFormat, ChatCall, ChatEndpoint, UpstreamFormat, UpstreamPlan } from "#proxy/formats/format";
import { BodyEditor } from "#proxy/json/body-editor";
import { scanJsonObject } from "#proxy/json/strict-json";
import type { Channel, Route } from "#proxy/snapshot/types.gen";

/** @param body an object, or JSON text where its spelling matters */
export function readBody(format: CallFormat, body: object | string, endpoint: Partial<ChatEndpoint> = {}): ChatCall {
  const bytes = Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
  const scanned = scanJsonObject(bytes, { depthMax: 64, keysMax: 50_000, watch: format.watchedKeys });
  const path = format.protocol === "Gemini" ? { modelInPath: "public" } : {};
  const { protocol } = format;
  return format.readCall(scanned, {
    protocol,
    format: format.format,
    capability: "Chat",
    ...path,
    ...endpoint,
  });
}

/** What a refusal says: `code param`, or the call's answer to `read` when there is none. */
export function refusalOf(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    if (error instanceof GatewayError) return `${error.code} ${error.param ?? ""}`.trim();
    throw error;
  }
  return "accepted";
}

export const usualPrivacy: Channel["privacy"] = {
  store: "PassThrough",
  safetyIdentifier: "Strip",
  streamObfuscation: "Strip",
  clientMetadata: "Forward",
};

export function channelOf(changes: Partial<Channel> = {}): Channel {
  return {
    kind: "channel",
    namespace: "default",
    name: "c",
    state: "Active",
    provider: "OpenAICompatible",
    baseURL: "https://upstream.example",
    formats: [],
    auth: { location: "Header", name: "authorization", scheme: "Bearer" },
    credentials: [],
    privacy: usualPrivacy,
    unsupportedParameters: "Ignore",
    upstreamObjects: "Refuse",
    timeouts: {},
    ...changes,
  };
}

export function routeOf(changes: Partial<Route> = {}): Route {
  return {
    kind: "route",
    namespace: "default",
    name: "r",
    model: "public",
    visibility: "Listed",
    capabilities: ["Chat"],
    targets: [],
    strategy: "Weighted",
    failover: { maxAttempts: 1, on: [], withinFirstMs: 0 },
    keySelector: { namespaces: ["*"] },
    ...changes,
  };
}

/** The text that goes upstream. */
export function editedBody(
  format: UpstreamFormat,
  body: object | string,
  changes: Partial<Channel> = {},
  plan: Partial<UpstreamPlan> = {},
): string {
  const call = readBody(format, body);
  const editor = new BodyEditor(call.body);
  const usual = { upstreamModel: "upstream", targetRules: undefined, outputCap: undefined };
  format.editBody(call, { channel: channelOf(changes), ...usual, ...plan }, editor);
  return editor.build().toString();
}
