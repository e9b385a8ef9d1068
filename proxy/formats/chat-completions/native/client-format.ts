/** Serves clients of chat completions (OpenAI-style) in their own format. */
import { findMemberAt } from "#proxy/formats/body/member-at";
import type { ChatCall, ClientFormat } from "#proxy/formats/format";
import { errorObject } from "#proxy/formats/render-error";
import { encodeEvent } from "#proxy/sse/encoder";
import { readCall, watchedKeys } from "./read-call.ts";

const comment = Buffer.from(": keep-alive\n\n");

export const chatCompletionsClient: ClientFormat = {
  format: "ChatCompletions",
  protocol: "OpenAI",
  watchedKeys,
  readCall,
  findMember: (call, path) => findMemberAt(call.body, path),
  signOfLife: () => comment,
  failsCleanly: true,
  renderStreamError: (error, context) => encodeEvent(undefined, JSON.stringify(errorObject(error, "OpenAI", context))),
  contentType: (call: ChatCall) => (call.stream ? "text/event-stream; charset=utf-8" : "application/json"),
};
