/**
 * Chat completions (OpenAI-style), served in its own format.
 *
 * Request bytes pass with surgical edits, reply bytes pass watched; nothing is re-serialised but a finish event whose
 * usage the client did not ask for. Called by the request pipeline through `ChatFormat`.
 */

import { memberAt } from "#proxy/formats/body/member-at";
import type { ChatCall, ChatFormat, ReplyReading } from "#proxy/formats/format";
import { readingOf, requireReply } from "#proxy/formats/read-reply";
import { errorObject } from "#proxy/formats/render-error";
import { parseJson } from "#proxy/json/json-value";
import { encodeEvent } from "#proxy/sse/encoder";
import { editBody } from "./edit-body.ts";
import { readProduced } from "./produced-text.ts";
import { readCall, watchedKeys } from "./read-call.ts";
import { usageOf } from "./read-usage.ts";
import { createStreamFilter } from "./stream-filter.ts";

const comment = Buffer.from(": keep-alive\n\n");

export const chatCompletions: ChatFormat = {
  format: "ChatCompletions",
  protocol: "OpenAI",
  watchedKeys,
  readCall,
  findMember: (call, path) => memberAt(call.body, path),
  editBody,
  readReply,
  createStreamFilter: (call, eventBytesMax, onEvent) =>
    createStreamFilter(call.wantsStreamUsage, eventBytesMax, onEvent),
  signOfLife: () => comment,
  failsCleanly: true,
  renderStreamError: (error, context) => encodeEvent(undefined, JSON.stringify(errorObject(error, "OpenAI", context))),
  contentType: (call: ChatCall) => (call.stream ? "text/event-stream; charset=utf-8" : "application/json"),
};

function readReply(body: Buffer, json: unknown = parseJson(body.toString("utf8"))): ReplyReading {
  const reply = requireReply(Array.isArray(json) ? json[0] : json);
  const hasError = reply["error"] !== undefined && reply["error"] !== null;
  const isReply = Array.isArray(reply["choices"]);
  return readingOf(reply, usageOf(reply), isReply && !hasError, readProduced);
}
