/**
 * Replays a whole reply as a stream (docs/design/generate-content.md 5): a frame is a whole reply, so one frame holds
 * it all.
 *
 * A client without `alt=sse` gets an array of one element (docs/design/generate-content.md 5.2).
 */

import type { ReplayContext } from "#proxy/formats/aggregate/aggregation";
import { blockReasonOf } from "#proxy/formats/generate-content/native/block-reason";
import { asList, isObject, type JsonObject } from "#proxy/json/json-value";
import { InvalidReply } from "#proxy/neutral/reply";

/**
 * A whole reply has ended, also where a vendor does not say why: a stream without a reason would be a cut one.
 * @throws InvalidReply for a reply with neither candidates nor a reason for their absence
 */
export function* replayReply(reply: JsonObject, { call }: ReplayContext): Generator<string, void> {
  const { candidates } = reply;
  if (!asList(candidates).some(isObject) && blockReasonOf(reply) === undefined) {
    throw new InvalidReply("the reply has no candidate");
  }
  const ended = Array.isArray(candidates) ? { ...reply, candidates: asList(candidates).map(withReason) } : reply;
  const text = JSON.stringify(ended);
  yield call.endpoint.geminiStream === "array" ? `[${text}]` : `data: ${text}\r\n\r\n`;
}

function withReason(candidate: unknown): unknown {
  if (!isObject(candidate) || typeof candidate["finishReason"] === "string") return candidate;
  return { ...candidate, finishReason: "STOP" };
}
