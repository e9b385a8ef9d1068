/**
 * Speaks chat completions (OpenAI-style) to upstreams for clients of the same format.
 *
 * Request bytes pass with surgical edits, and the filter watches the reply bytes that pass; only a finish event whose
 * usage the client did not ask for is serialised anew. The request pipeline calls it through `UpstreamFormat`.
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
