/**
 * Speaks messages (Anthropic-style) to upstreams for clients of the same format.
 *
 * Request bytes pass with surgical edits (thinking blocks stay byte-identical), and the filter watches the reply bytes
 * that pass. The request pipeline calls it through `UpstreamFormat`.
 */

import { findMemberAt } from "#proxy/formats/body/member-at";
import type { ReplyReading, UpstreamFormat } from "#proxy/formats/format";
import { readingOf, requireReply } from "#proxy/formats/read-reply";
import { isObject, parseJson } from "#proxy/json/json-value";
import { editBody } from "./edit-body.ts";
import { readMessageText } from "./produced-text.ts";
import { readCall, watchedKeys } from "./read-call.ts";
import { readUsage } from "./read-usage.ts";
import { createStreamFilter } from "./stream-filter.ts";
export const messagesUpstream: UpstreamFormat = {
  format: "Messages",
  protocol: "Anthropic",
  watchedKeys,
  readCall,
  findMember: (call, path) => findMemberAt(call.body, path),
  editBody,
  readReply,
  createStreamFilter: (_call, eventBytesMax, onEvent) => createStreamFilter(eventBytesMax, onEvent),
  contentType: (call) => (call.stream ? "text/event-stream; charset=utf-8" : "application/json"),
};

function readReply(body: Buffer, json: unknown = parseJson(body.toString("utf8"))): ReplyReading {
  const reply = requireReply(json);
  const hasError = reply["type"] === "error" || isObject(reply["error"]);
  const isReply = Array.isArray(reply["content"]);
  return readingOf(reply, readUsage(reply["usage"]), isReply && !hasError, readMessageText);
}
