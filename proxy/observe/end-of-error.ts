/** Turns the error that ended a request into the end code of the access log. */
import { type ErrorCode, errorTable } from "#proxy/errors";
import type { EndCode } from "./access-log.ts";

/** Who ended the request and in which phase; see `EndCode`. @param isUpstreamReached whether an upstream had been asked */
export function endOf(code: ErrorCode, isUpstreamReached: boolean): EndCode {
  const { reason, status } = errorTable[code];
  const phase = isUpstreamReached ? "H" : "Q";
  if (reason.startsWith("upstream_timeout")) return "sH";
  if (reason.startsWith("upstream_") || reason === "channel_refused" || reason === "context_length") return "SH";
  if (code === "internal") return `I${phase}`;
  if (code === "shutting_down") return `D${phase}`;
  if (status === 429 || status === 402 || status === 503) return `R${phase}`;
  return code === "request_timeout" ? "cR" : "PR";
}
