/**
 * Chat completions (OpenAI-style), served in its own format.
 *
 * Request bytes pass with surgical edits, reply bytes pass watched; nothing is re-serialised but a finish event whose
 * usage the client did not ask for. Called by the request pipeline through `UpstreamFormat`.
 */

import { findMemberAt } from "#proxy/formats/body/member-at";
import type { ChatCall, ReplyReading, UpstreamFormat } from "#proxy/formats/format";
import { readingOf, requireReply } from "#proxy/formats/read-reply";
import { parseJson } from "#proxy/json/json-value";
import { editBody } from "./edit-body.ts";
import { readProduced } from "./produced-text.ts";
import { readCall, watchedKeys } from "./read-call.ts";
import { usageOf } from "./read-usage.ts";
import { createStreamFilter } from "./stream-filter.ts";
export const chatCompletionsUpstream: UpstreamFormat = {
  format: "ChatCompletions",
  protocol: "OpenAI",
  watchedKeys,
  readCall,
  findMember: (call, path) => findMemberAt(call.body, path),
  editBody,
  readReply,
  createStreamFilter: (call, eventBytesMax, onEvent) =>
    createStreamFilter(call.wantsStreamUsage, eventBytesMax, onEvent),
  contentType: (call: ChatCall) => (call.stream ? "text/event-stream; charset=utf-8" : "application/json"),
};

function readReply(body: Buffer, json: unknown = parseJson(body.toString("utf8"))): ReplyReading {
  const reply = requireReply(Array.isArray(json) ? json[0] : json);
  const hasError = reply["error"] !== undefined && reply["error"] !== null;
  const isReply = Array.isArray(reply["choices"]);
  return readingOf(reply, usageOf(reply), isReply && !hasError, readProduced);
}
