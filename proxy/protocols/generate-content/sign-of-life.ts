/**
 * Tells a client of streamGenerateContent that its answer still lives: a frame without candidates, which all of Google's
 * SDKs take, old and new. A comment breaks several of them, a blank line one (`@google/generative-ai`).
 */
import { encodeEvent } from "../../sse/encoder.ts";
import type { ChatCall } from "../chat-format.ts";
import type { StreamOpening } from "../stream-opening.ts";

/** White space may stand before the first element of an array and between any two. */
const whiteSpace = Buffer.from("\r\n");

export function signOfLife(call: ChatCall, opening: StreamOpening): Buffer {
  if (call.endpoint.geminiStream === "array") return whiteSpace;
  const promptTokenCount = opening.inputTokensEstimate;
  const frame = {
    modelVersion: call.model,
    responseId: opening.idWith(""),
    usageMetadata: { promptTokenCount, totalTokenCount: promptTokenCount },
  };
  return encodeEvent(undefined, JSON.stringify(frame));
}
