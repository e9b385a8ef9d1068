/**
 * Sends a sign of life to a client of streamGenerateContent: a frame without candidates, which all of Google's SDKs
 * accept, old and new. A comment breaks several of them, a blank line one (`@google/generative-ai`).
 */

import type { ChatCall, StreamFilter } from "#proxy/formats/format";
import type { StreamOpening } from "#proxy/formats/stream/stream-opening";
import { encodeEvent } from "#proxy/sse/encoder";
import { GenerateContentStreamFilter } from "./stream-filter.ts";

/** White space may stand before the first element of an array and between any two. */
const whiteSpace = Buffer.from("\r\n");

const nothing = Buffer.alloc(0);

export function signOfLife(call: ChatCall, opening: StreamOpening, filter?: StreamFilter): Buffer {
  // Clients take the last usage that they are told: behind the reply's own stands none.
  if (filter instanceof GenerateContentStreamFilter && filter.hasFinished) return nothing;
  if (call.endpoint.geminiStream === "array") return whiteSpace;
  const promptTokenCount = opening.inputTokensEstimate;
  const frame = {
    modelVersion: call.model,
    responseId: opening.idWith(""),
    usageMetadata: { promptTokenCount, totalTokenCount: promptTokenCount },
  };
  return encodeEvent(undefined, JSON.stringify(frame));
}
