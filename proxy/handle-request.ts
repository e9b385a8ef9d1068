/**
 * One request, top to bottom: the first file to read.
 *
 * Each stage is one call and each failure one error of the closed table; only this file knows their order. The head
 * alone decides whether a body is read at all. A request pins one view of the configuration and keeps it until its
 * last byte. Whatever happens, a reservation is settled once and the request is reported once.
 */
import { balanceLeft } from "./admit/balance-left.ts";
import { claimsOf } from "./admit/claims.ts";
import { type Estimate, estimateCost } from "./admit/estimate-cost.ts";
import { rateLimitHeaders } from "./admit/rate-limit-headers.ts";
import { refusalToError } from "./admit/refusal-to-error.ts";
import { answerError } from "./answer-error.ts";
import { describeLiveness, findKey } from "./authenticate/find-key.ts";
import { readCredential } from "./authenticate/read-credential.ts";
import { authorizeAddress } from "./authorize/authorize-address.ts";
import { authorizeModel } from "./authorize/decide.ts";
import { GatewayError } from "./errors.ts";
import { formatIpAddress } from "./http/address/ip-address.ts";
import { readClientAddress } from "./http/client-address.ts";
import { checkRequestHead, upstreamHeaders } from "./http/header-rules.ts";
import { readBody } from "./http/read-body.ts";
import { matchEndpoint, protocolOfPath } from "./http/request-target.ts";
import { scanJsonObject } from "./http/strict-json.ts";
import type { RunningCall } from "./is-still-allowed.ts";
import { RequestRecord } from "./observe/request-record.ts";
import type { ChatCall, ChatEndpoint, ChatFormat } from "./protocols/chat-format.ts";
import { chatFormats } from "./protocols/chat-formats.ts";
import { serveChat } from "./serve-chat.ts";
import { serveModels } from "./serve-models.ts";
import type { Exchange } from "./server.ts";
import type { Services } from "./services.ts";
import { CallSettlement } from "./settle-call.ts";
import type { Snapshot } from "./snapshot/snapshot.ts";
import type { Route } from "./snapshot/types.gen.ts";

/** Serves one request and ends its response; never throws. */
export async function handleRequest(exchange: Exchange, services: Services): Promise<void> {
  const { request, response } = exchange;
  const record = new RequestRecord(services.nextRequestId(), performance.now(), services.now());
  const url = request.url ?? "";
  services.metrics.requestStarted();
  try {
    await serve(exchange, services, record, url);
  } catch (error) {
    answerError(exchange, error, protocolOfPath(url, request.rawHeaders), record, services.log);
  } finally {
    services.metrics.requestEnded();
    if (!response.writableEnded && !response.headersSent) response.destroy();
    record.report(services.metrics, services.accessLog);
  }
}

async function serve(exchange: Exchange, services: Services, record: RequestRecord, url: string): Promise<void> {
  const { request } = exchange;
  const { limits } = services;
  const headers = request.rawHeaders;
  checkRequestHead(headers, request.httpVersion, limits); //                                          400 417 431
  const endpoint = matchEndpoint(request.method ?? "", url, headers, limits.targetBytesMax); //       404 405 414
  record.format = endpoint.kind === "chat" ? endpoint.format : "Models";
  if (!services.snapshots.isReady) throw new GatewayError("not_ready", "The gateway has no configuration yet."); // 503
  let snapshot = services.snapshots.pin();
  const secret = readCredential(endpoint.protocol, headers, url); //                                          401
  let found = findKey(secret, snapshot, services.now()); //                                                   401
  let { key } = found;
  record.key = key;
  const address = readClientAddress(request.socket.remoteAddress, headers, services.trustedProxies);
  record.clientAddress = address === undefined ? "" : formatIpAddress(address);
  authorizeAddress(key, address); //                                                                          403
  if (endpoint.kind !== "chat") {
    serveModels(exchange, endpoint, { key, snapshot, protocol: endpoint.protocol }, record);
    return;
  }
  if (services.metrics.inFlight > limits.inFlightRequestsMax) throw overloaded(); //                          503
  const format = chatFormats[endpoint.format];
  if (exchange.expectsContinue) exchange.response.writeContinue();
  const body = await readBody(request, limits, services.inFlightBytes); //                        400 408 413 415
  try {
    // A body may take a minute to arrive: a key that was revoked or ran out meanwhile begins no call.
    const live = services.snapshots.pin();
    if (live !== snapshot || describeLiveness(found, live, services.now()) !== undefined) {
      snapshot = live;
      found = findKey(secret, snapshot, services.now());
      key = found.key;
      record.key = key;
      authorizeAddress(key, address);
    }
    record.requestBytes = body.bytes.length;
    const call = readCall(format, body.bytes, endpoint, services); //                                         400
    record.model = call.model;
    record.isStream = call.stream;
    const route = authorizeModel({
      key,
      snapshot,
      protocol: endpoint.protocol,
      capability: endpoint.capability,
      model: call.model,
    }); // 403 404
    record.route = `${route.namespace}/${route.name}`;
    format.checkRouteParameters(call, route); //                                                              400
    await admitAndServe({ exchange, services, snapshot, found, clientAddress: address, format, call, route, record }); // 402 429 5xx
  } finally {
    services.inFlightBytes.release(body.heldBytes);
  }
}

function readCall(format: ChatFormat, bytes: Buffer, endpoint: ChatEndpoint, services: Services): ChatCall {
  const { jsonDepthMax, jsonKeysMax } = services.limits;
  const scanned = scanJsonObject(bytes, { depthMax: jsonDepthMax, keysMax: jsonKeysMax, watch: format.watchedKeys });
  return format.readCall(scanned, endpoint);
}

function overloaded(): GatewayError {
  return new GatewayError("overloaded", "The gateway serves as many requests as it can. Try again.");
}

interface AuthorizedCall extends RunningCall {
  readonly exchange: Exchange;
  readonly services: Services;
  readonly snapshot: Snapshot;
  readonly format: ChatFormat;
  readonly route: Route;
  readonly record: RequestRecord;
}

/** Reserves what the call may need, all or none, has it answered, and settles it exactly once however it went. */
async function admitAndServe(authorized: AuthorizedCall): Promise<void> {
  const { exchange, services, snapshot, call, route, record } = authorized;
  const { key } = authorized.found;
  const { ledger, metrics } = services;
  const account = key.account === undefined ? undefined : snapshot.account(key.namespace, key.account);
  const claims = claimsOf(key, account, route, call.model);
  const estimate: Estimate = estimateCost(call, route, snapshot.fleet, claims, () =>
    balanceLeft(claims.balances, ledger),
  );
  const startedMs = performance.now();
  const result = await ledger.reserve({ id: record.requestId, amounts: estimate.amounts, ...claims });
  metrics.ledgerTook("reserve", performance.now() - startedMs);
  services.keyUses.note(key, result.kind === "reserved", services.now());
  if (result.kind === "refused") {
    metrics.quotaDecision(result.reason);
    throw refusalToError(result, services.now());
  }
  metrics.quotaDecision("reserved");
  const settlement = new CallSettlement(record.requestId, {
    ledger,
    reservations: services.reservations,
    metrics,
    estimateTokens: services.estimateTokens,
    route,
    call,
    record,
    log: services.log,
  });
  try {
    await serveChat({
      ...authorized,
      estimate,
      settlement,
      passedHeaders: upstreamHeaders(call.endpoint.protocol, exchange.request.rawHeaders),
      answerHeaders: answerHeaders(
        record.requestId,
        rateLimitHeaders(result.states, call.endpoint.protocol, services.now()),
      ),
    });
  } finally {
    await settlement.release();
  }
}

/** Names and values in turn, as `writeHead` takes them with the least work. */
function answerHeaders(requestId: string, rateLimits: Readonly<Record<string, string>>): string[] {
  const headers = ["x-request-id", requestId, "request-id", requestId];
  for (const name in rateLimits) headers.push(name, rateLimits[name] ?? "");
  return headers;
}
