/**
 * Speaks responses (OpenAI-style) to upstreams for clients of the same format. `resolve-call.ts` has resolved the
 * earlier conversation of the call before.
 *
 * Request bytes pass with surgical edits, and the filter watches the reply bytes that pass. The request pipeline calls
 * it through `UpstreamFormat`.
 */

import { findMemberAt } from "#proxy/formats/body/member-at";
import type { ReplyReading, UpstreamFormat } from "#proxy/formats/format";
import { readingOf, requireReply } from "#proxy/formats/read-reply";
import { isObject, parseJson } from "#proxy/json/json-value";
import { editBody } from "./edit-body.ts";
import { readResponseText } from "./produced-text.ts";
import { readCall, watchedKeys } from "./read-call.ts";
import { readUsage } from "./read-usage.ts";
import { ResponsesStreamFilter } from "./stream-filter.ts";
export const responsesUpstream: UpstreamFormat = {
  format: "Responses",
  protocol: "OpenAI",
  watchedKeys,
  readCall,
  findMember: (call, path) => findMemberAt(call.body, path),
  editBody,
  readReply,
  createStreamFilter: (_call, eventBytesMax, onEvent) => new ResponsesStreamFilter(eventBytesMax, onEvent),
  contentType: (call) => (call.stream ? "text/event-stream; charset=utf-8" : "application/json"),
};

/** A body of status 200 can be an error: `status: "failed"`, or an error object without any output. */
function readReply(body: Buffer, json: unknown = parseJson(body.toString("utf8"))): ReplyReading {
  const reply = requireReply(json);
  const hasFailed = reply["status"] === "failed" || reply["status"] === "cancelled" || isObject(reply["error"]);
  const isReply = Array.isArray(reply["output"]);
  return readingOf(reply, readUsage(reply), isReply && !hasFailed, readResponseText);
}
