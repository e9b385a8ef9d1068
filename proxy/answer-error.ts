/**
 * Answers a request that failed before its first byte, in the shape of the protocol it spoke, and records why.
 *
 * What is not an error of the table is a bug of ours: the client learns the request id, the log learns the rest.
 */
import { type ErrorCode, errorTable, GatewayError } from "./errors.ts";
import { ClientGoneError } from "./http/read-body.ts";
import type { Exchange } from "./http1/exchange.ts";
import type { EndCode } from "./observe/access-log.ts";
import type { Logger } from "./observe/logger.ts";
import type { RequestRecord } from "./observe/request-record.ts";
import { renderError } from "./protocols/render-error.ts";
import type { Protocol } from "./protocols/wire.ts";

export function answerError(
  exchange: Exchange,
  thrown: unknown,
  protocol: Protocol,
  record: RequestRecord,
  log: Logger,
): void {
  const { response } = exchange;
  if (thrown instanceof ClientGoneError) {
    record.clientLeft("CR");
    response.destroy();
    return;
  }
  const error = thrown instanceof GatewayError ? thrown : unexpected(thrown, record, log);
  const rendered = renderError(error, protocol, {
    requestId: record.requestId,
    ...(record.model === undefined ? {} : { model: record.model }),
  });
  record.refused(error.code, rendered.status, endOf(error.code, record.attempts > 0));
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  if (errorTable[error.code].closes === true) response.closeAfter();
  record.responseBytes = rendered.body.length;
  response.writeHead(rendered.status, Object.entries(rendered.headers).flat(), rendered.body.length);
  response.end(rendered.body);
}

function unexpected(thrown: unknown, record: RequestRecord, log: Logger): GatewayError {
  log.error("a request failed for an unexpected reason", { request: record.requestId, error: thrown });
  return new GatewayError(
    "internal",
    `Internal error: the gateway failed to handle this request (${record.requestId}).`,
    {
      cause: thrown,
    },
  );
}

/** Who ended the request and in which phase; see `EndCode`. @param isAsked whether an upstream had been asked */
export function endOf(code: ErrorCode, isAsked: boolean): EndCode {
  const { reason, status } = errorTable[code];
  const phase = isAsked ? "H" : "Q";
  if (reason.startsWith("upstream_timeout")) return "sH";
  if (reason.startsWith("upstream_") || reason === "channel_refused" || reason === "context_length") return "SH";
  if (code === "internal") return `I${phase}`;
  if (code === "shutting_down") return `D${phase}`;
  if (status === 429 || status === 402 || status === 503) return `R${phase}`;
  return code === "request_timeout" ? "cR" : "PR";
}
