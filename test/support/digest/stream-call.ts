/** A streamed call of any format, as small as it can be, whose client asked for usage. */

import type { CallFormat, ChatCall, ChatEndpoint } from "#proxy/formats/format";
import { scanJsonObject } from "#proxy/json/strict-json";

const bodies = {
  ChatCompletions: {
    model: "m",
    messages: [{ role: "user", content: "hi" }],
    stream: true,
    stream_options: { include_usage: true },
  },
  Responses: { model: "m", input: "hi", stream: true },
  Messages: { model: "m", max_tokens: 16, messages: [{ role: "user", content: "hi" }], stream: true },
  GenerateContent: { contents: [{ role: "user", parts: [{ text: "hi" }] }] },
} as const;

/** @param changes members set over the usual ones; undefined removes */
export function callOf(format: CallFormat, changes: object = {}, endpoint: Partial<ChatEndpoint> = {}): ChatCall {
  const body = Buffer.from(JSON.stringify({ ...bodies[format.format], ...changes }));
  const scanned = scanJsonObject(body, { depthMax: 64, keysMax: 50_000, watch: format.watchedKeys });
  const path: Partial<ChatEndpoint> = format.protocol === "Gemini" ? { modelInPath: "m", geminiStream: "sse" } : {};
  const { protocol } = format;
  return format.readCall(scanned, {
    protocol,
    format: format.format,
    capability: "Chat",
    ...path,
    ...endpoint,
  });
}
