/**
 * Responds to a request that failed before its first byte, in the shape of its protocol, and records the reason.
 *
 * An error outside the table is a bug of the gateway: the client gets the request id, and the log gets the rest.
 */
import { errorTable, GatewayError } from "#proxy/errors";
import { renderError } from "#proxy/formats/render-error";
import { ClientGoneError } from "#proxy/http/read-body";
import type { Exchange } from "#proxy/http1/server/exchange";
import type { Protocol } from "#proxy/neutral/wire";
import { endOf } from "#proxy/observe/end-of-error";
import type { Logger } from "#proxy/observe/logger";
import type { RequestRecord } from "#proxy/observe/request-record";

export function respondWithError(
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
