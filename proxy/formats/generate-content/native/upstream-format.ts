/**
 * Speaks generateContent and streamGenerateContent (Gemini-style) to upstreams for clients of the same format.
 *
 * The upstream of a streamed call must be asked with `alt=sse`, whatever the client asked for. The request pipeline
 * calls it through `UpstreamFormat`.
 */
import type { ReplyReading, UpstreamFormat } from "#proxy/formats/format";
import { readingOf, requireReply } from "#proxy/formats/read-reply";
import { isObject, parseJson } from "#proxy/json/json-value";
import { editBody } from "./edit-body.ts";
import { readProduced } from "./produced-text.ts";
import { readCall, watchedKeys } from "./read-call.ts";
import { readUsage } from "./read-usage.ts";
import { SearchQueries } from "./searches.ts";
import { findMember } from "./spellings.ts";
import { GenerateContentStreamFilter } from "./stream-filter.ts";
export const generateContentUpstream: UpstreamFormat = {
  format: "GenerateContent",
  protocol: "Gemini",
  watchedKeys,
  readCall,
  findMember,
  editBody,
  readReply,
  createStreamFilter: (call, eventBytesMax, onEvent) =>
    new GenerateContentStreamFilter(call.endpoint.geminiStream ?? "sse", eventBytesMax, onEvent),
  contentType: (call) =>
    call.endpoint.geminiStream === "sse" ? "text/event-stream; charset=utf-8" : "application/json",
};

function readReply(body: Buffer, json: unknown = parseJson(body.toString("utf8"))): ReplyReading {
  const reply = requireReply(Array.isArray(json) ? json[0] : json);
  const hasError = isObject(reply["error"]);
  const isReply = ["candidates", "promptFeedback", "usageMetadata"].some((name) => name in reply);
  const queries = new SearchQueries();
  queries.note(reply);
  return readingOf(reply, readUsage(reply["usageMetadata"], queries.count), isReply && !hasError, readProduced);
}
