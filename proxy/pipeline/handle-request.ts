/**
 * Handles one request, top to bottom. This is the first file to read.
 *
 * Each stage is one call and each failure is one error of the closed table; only this file knows their order. The head
 * alone decides whether a body is read at all. A request pins one view of the configuration and keeps it until its
 * last byte. Calls that arrive together do each stage together (`request-batch.ts`). Whatever happens, a reservation
 * is settled once and the request is reported once.
 */
import { authorizeEndpoint } from "#proxy/authorize/decide";
import type { Caller } from "#proxy/dispatch/admitted-call";
import { authenticateAgain } from "#proxy/dispatch/live-caller";
import { hasReferences } from "#proxy/dispatch/references/resolve-call";
import type { CallSettlement } from "#proxy/dispatch/reservations/settle-call";
import type { Services } from "#proxy/dispatch/services";
import type { BodyEndpoint, Match, PlainEndpoint } from "#proxy/endpoints/endpoint";
import { protocolOfPath } from "#proxy/endpoints/match-endpoint";
import type { Exchange } from "#proxy/http1/server/exchange";
import { RequestRecord } from "#proxy/observe/request-record";
import { joinBatch, yieldToBatch } from "#proxy/runtime/request-batch";
import { admitCall } from "./admit-call.ts";
import { authorizeCall, withReferences } from "./authorize-call.ts";
import { readHead } from "./read-head.ts";
import { bytesOf, readCall, receiveBody, releaseBody } from "./receive-body.ts";
import { respondWithError } from "./respond-with-error.ts";

/** Serves one request and ends its response; never throws. */
export async function handleRequest(exchange: Exchange, services: Services): Promise<void> {
  const { request, response } = exchange;
  const record = new RequestRecord(services.nextRequestId(), performance.now(), services.now());
  services.metrics.requestStarted();
  try {
    await joinBatch();
    const { matched, caller } = readHead(exchange, services, record); //          400 401 403 404 405 414 426 431 503
    const { endpoint, match } = matched;
    const { body } = endpoint;
    if (body === "json" || body === "form" || body === "any") await serveCall(caller, endpoint, match);
    else await servePlain(caller, endpoint, match);
  } catch (error) {
    respondWithError(exchange, error, protocolOfPath(request.url, request.rawHeaders), record, services.log);
  } finally {
    await yieldToBatch;
    services.metrics.requestEnded();
    if (!response.writableEnded && !response.headersSent) response.destroy();
    record.report(services.metrics, services.accessLog);
  }
}

/** Reads the call, reserves what it may need, serves it; releases everything however that went. */
async function serveCall(caller: Caller, endpoint: BodyEndpoint, match: Match): Promise<void> {
  const body = await receiveBody(caller, endpoint); //                                           400 408 413 415 503
  let settlement: CallSettlement | undefined;
  let conversationBytes = 0;
  try {
    caller.record.requestBytes = bytesOf(body);
    const live = authenticateAgain(caller); //                                                        401 403 503
    const call = await readCall(endpoint, body, match, caller.services.limits); //                            400
    await yieldToBatch;
    let authorized = authorizeCall(live, endpoint, call); //                                          400 403 404
    if (hasReferences(authorized)) {
      const resolved = await withReferences(authorized, live, endpoint); //                   400 401 403 404 503
      authorized = resolved.authorized;
      conversationBytes = resolved.conversationBytes;
    }
    await yieldToBatch;
    const admitting = admitCall(authorized, endpoint); //                                         402 403 429 503
    const admitted = admitting instanceof Promise ? await admitting : admitting;
    settlement = admitted.settlement;
    await yieldToBatch;
    await endpoint.serve(admitted); //                                                                        5xx
  } finally {
    const pending = settlement?.release();
    if (pending !== undefined) await pending;
    releaseBody(body, caller);
    caller.inFlightBytes.release(conversationBytes);
  }
}

async function servePlain(caller: Caller, endpoint: PlainEndpoint, match: Match): Promise<void> {
  caller.exchange.request.ignore();
  const { found, snapshot } = caller;
  authorizeEndpoint({ key: found.key, snapshot, protocol: match.protocol }, endpoint.capability); //          403
  await endpoint.serve(caller, match); //                                                             400 403 404 5xx
}
