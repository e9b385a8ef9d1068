/** Serves clients of generateContent and streamGenerateContent (Gemini-style) in their own format. */
import type { ClientFormat } from "#proxy/formats/format";
import { readCall, watchedKeys } from "./read-call.ts";
import { signOfLife } from "./sign-of-life.ts";
import { findMember } from "./spellings.ts";
import { renderStreamError } from "./stream-error.ts";

export const generateContentClient: ClientFormat = {
  format: "GenerateContent",
  protocol: "Gemini",
  watchedKeys,
  readCall,
  findMember,
  signOfLife,
  // Google's own SDK skips an error in a data line and takes a clean end for success.
  failsCleanly: false,
  renderStreamError,
  contentType: (call) =>
    call.endpoint.geminiStream === "sse" ? "text/event-stream; charset=utf-8" : "application/json",
};
