/**
 * Serves clients of responses (OpenAI-style) in their own format. `resolve-call.ts` has resolved the earlier
 * conversation of the call before.
 */
import { findMemberAt } from "#proxy/formats/body/member-at";
import type { ClientFormat } from "#proxy/formats/format";
import { readCall, watchedKeys } from "./read-call.ts";
import { signOfLife } from "./sign-of-life.ts";
import { renderStreamError } from "./stream-error.ts";

export const responsesClient: ClientFormat = {
  format: "Responses",
  protocol: "OpenAI",
  watchedKeys,
  readCall,
  findMember: (call, path) => findMemberAt(call.body, path),
  signOfLife,
  failsCleanly: true,
  renderStreamError,
  contentType: (call) => (call.stream ? "text/event-stream; charset=utf-8" : "application/json"),
};
