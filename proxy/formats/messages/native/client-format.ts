/** Serves clients of messages (Anthropic-style) in their own format. */
import { findMemberAt } from "#proxy/formats/body/member-at";
import type { ClientFormat } from "#proxy/formats/format";
import { errorObject } from "#proxy/formats/render-error";
import { encodeEvent } from "#proxy/sse/encoder";
import { readCall, watchedKeys } from "./read-call.ts";

const ping = encodeEvent("ping", '{"type":"ping"}');

export const messagesClient: ClientFormat = {
  format: "Messages",
  protocol: "Anthropic",
  watchedKeys,
  readCall,
  findMember: (call, path) => findMemberAt(call.body, path),
  signOfLife: () => ping,
  failsCleanly: true,
  renderStreamError: (error, context) => encodeEvent("error", JSON.stringify(errorObject(error, "Anthropic", context))),
  contentType: (call) => (call.stream ? "text/event-stream; charset=utf-8" : "application/json"),
};
