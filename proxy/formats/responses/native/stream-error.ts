/**
 * Ends a responses stream that failed: `error`, then `response.failed` with what was finished
 * (docs/design/responses.md 6.4). SDKs resolve quietly without the second, and disagree about the place of the first
 * one's members, so both places are written.
 */
import { errorTable, type GatewayError } from "#proxy/errors";
import type { ChatCall, ErrorContext, StreamFilter } from "#proxy/formats/format";
import { errorObject } from "#proxy/formats/render-error";
import type { StreamOpening } from "#proxy/formats/stream/stream-opening";
import { memberAt } from "#proxy/json/json-value";
import { encodeEvent } from "#proxy/sse/encoder";
import { opened } from "./sign-of-life.ts";
import { ResponsesStreamFilter } from "./stream-filter.ts";

export function renderStreamError(
  error: GatewayError,
  context: ErrorContext,
  filter: StreamFilter | undefined,
  call: ChatCall,
  opening?: StreamOpening,
): Buffer {
  const progress = filter instanceof ResponsesStreamFilter ? filter.progress() : undefined;
  const sequence = progress?.sequence ?? opening?.sequence ?? 0;
  const rendered = errorObject(error, "OpenAI", context);
  const message = memberAt(rendered, "error", "message");
  const param = memberAt(rendered, "error", "param");
  const code = memberAt(rendered, "error", "code");
  const errorEvent = { type: "error", sequence_number: sequence, code, message, param, ...rendered };
  const response = {
    ...(progress?.response ??
      (opening?.isNumbered === true
        ? opened(call, opening)
        : { id: `resp_${context.requestId}`, object: "response", model: context.model ?? "" })),
    status: "failed",
    error: { code: responseCode(error), message },
    output: progress?.output ?? [],
    usage: progress?.rawUsage ?? null,
  };
  return Buffer.concat([
    encodeEvent("error", JSON.stringify(errorEvent)),
    encodeEvent(
      "response.failed",
      JSON.stringify({ type: "response.failed", sequence_number: sequence + 1, response }),
    ),
  ]);
}

/** The codes that strict decoders know (docs/design/responses.md 6.4). */
export function responseCode(error: GatewayError): string {
  if (error.code === "context_length") return "context_length_exceeded";
  // Codex says that the model is at capacity, and does not try the call again at once.
  if (error.code === "upstream_overloaded") return "server_is_overloaded";
  const { status } = errorTable[error.code];
  if (status === 429) return "rate_limit_exceeded";
  return status < 500 ? "invalid_prompt" : "server_error";
}
