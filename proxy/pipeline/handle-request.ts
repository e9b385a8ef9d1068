/**
 * One request, top to bottom: the first file to read.
 *
 * Each stage is one call and each failure one error of the closed table; only this file knows their order. The head
 * alone decides whether a body is read at all. A request pins one view of the configuration and keeps it until its
 * last byte. Between two stages the other calls that came with it do the former one (`request-batch.ts`). Whatever happens, a
 * reservation is settled once and the request is reported once.
 */
import { balanceLeft } from "#proxy/admit/balance-left";
import { type Claims, claimsOf } from "#proxy/admit/claims";
import { capsOutput, type Estimate, estimateCost } from "#proxy/admit/estimate-cost";
import { type Reservation, zeroAmounts } from "#proxy/admit/ledger";
import { rateLimitHeaders } from "#proxy/admit/rate-limit-headers";
import { describeLiveness, findKey } from "#proxy/authenticate/find-key";
import { readCredential } from "#proxy/authenticate/read-credential";
import { authorizeAddress } from "#proxy/authorize/authorize-address";
import { authorizeKept, authorizeModel } from "#proxy/authorize/decide";
import type { AdmittedCall } from "#proxy/dispatch/admitted-call";
import { hasReferences, ownerOf, resolveCall } from "#proxy/dispatch/references/resolve-call";
import { reserveRequest } from "#proxy/dispatch/reservations/reserve-request";
import { CallSettlement } from "#proxy/dispatch/reservations/settle-call";
import type { Services } from "#proxy/dispatch/services";
import { serveChat } from "#proxy/endpoints/chat/serve-chat";
import type { CountEndpoint } from "#proxy/endpoints/count-tokens/read-count-call";
import { serveCountTokens } from "#proxy/endpoints/count-tokens/serve-count-tokens";
import { matchEndpoint, protocolOfPath } from "#proxy/endpoints/match-endpoint";
import { serveModels } from "#proxy/endpoints/models/serve-models";
import { serveStoredResponse } from "#proxy/endpoints/stored-responses/serve-stored-response";
import { GatewayError } from "#proxy/errors";
import type { ChatCall, ChatEndpoint } from "#proxy/formats/format";
import { chatFormats } from "#proxy/formats/registry";
import { formatIpAddress, type IpAddress } from "#proxy/http/address/ip-address";
import { readClientAddress } from "#proxy/http/client-address";
import { gatewayErrorOf } from "#proxy/http/gateway-error-of";
import { upstreamHeaders } from "#proxy/http/header-rules";
import type { CallBytes } from "#proxy/http/in-flight-bytes";
import { ClientGoneError, type RequestBody, readBody } from "#proxy/http/read-body";
import type { Exchange } from "#proxy/http1/server/exchange";
import { type ScannedObject, scanJsonObject } from "#proxy/json/strict-json";
import type { Endpoint, Protocol } from "#proxy/neutral/wire";
import type { MetricFormat } from "#proxy/observe/metrics";
import { RequestRecord } from "#proxy/observe/request-record";
import { checkRouteParameters } from "#proxy/parameters/route-parameters";
import { authorizedResponses } from "#proxy/responses-state/authorized-responses";
import { HeldResponses } from "#proxy/responses-state/held-responses";
import { joinBatch, yieldToBatch } from "#proxy/runtime/request-batch";
import type { FoundKey, Snapshot } from "#proxy/snapshot/snapshot";
import type { Key, Route } from "#proxy/snapshot/types.gen";
import { answerError } from "./answer-error.ts";
import { worstCaseOutput } from "./worst-case-output.ts";

/** Serves one request and ends its response; never throws. */
export async function handleRequest(exchange: Exchange, services: Services): Promise<void> {
  const { request, response } = exchange;
  const record = new RequestRecord(services.nextRequestId(), performance.now(), services.now());
  services.metrics.requestStarted();
  try {
    await joinBatch();
    const caller = readHead(exchange, services, record); //                          400 401 403 404 405 414 431 503
    const { endpoint } = caller;
    if (endpoint.kind === "chat") await serveCall(exchange, services, caller, endpoint, record);
    else if (endpoint.kind === "count-tokens") await serveCount(exchange, services, caller, endpoint, record);
    else if (endpoint.kind === "stored-response")
      await serveStoredResponse({ exchange, services, ...caller, clientAddress: caller.address, record }, endpoint);
    else serveModels(exchange, endpoint, { ...caller, protocol: endpoint.protocol }, record);
  } catch (error) {
    answerError(exchange, error, protocolOfPath(request.url, request.rawHeaders), record, services.log);
  } finally {
    await yieldToBatch;
    services.metrics.requestEnded();
    if (!response.writableEnded && !response.headersSent) response.destroy();
    record.report(services.metrics, services.accessLog);
  }
}

/** Who calls from where and asks for what: all that the head tells. */
interface Caller {
  readonly endpoint: Endpoint;
  readonly secret: string;
  readonly found: FoundKey;
  readonly key: Key;
  readonly snapshot: Snapshot;
  readonly address: IpAddress | undefined;
  /** Counts what the request holds. */
  readonly inFlightBytes: CallBytes;
}

/** An overloaded proxy says so of whatever is asked, and before the client is asked for a body. */
function readHead(exchange: Exchange, services: Services, record: RequestRecord): Caller {
  const { request } = exchange;
  const { limits } = services;
  const headers = request.rawHeaders;
  const { url } = request;
  if (request.problem !== undefined) throw gatewayErrorOf(request.problem); //                    400 405 417 431
  // Known before anything is refused: the log names the client of every request.
  const address = readClientAddress(request.remoteAddress, headers, services.trustedProxies);
  record.clientAddress = address === undefined ? "" : formatIpAddress(address);
  const endpoint = matchEndpoint(request.method, url, headers, limits.targetBytesMax); //   404 405 414 426
  record.format = recordedFormat(endpoint);
  const snapshot = liveSnapshot(services); //                                                                 503
  const secret = readCredential(endpoint.protocol, headers, url); //                                          401
  const found = findKey(secret, snapshot, services.now()); //                                                 401
  const { key } = found;
  record.key = key;
  authorizeAddress(key, address); //                                                                          403
  if (services.metrics.inFlight > limits.inFlightRequestsMax) throw overloaded(); //                          503
  return { endpoint, secret, found, key, snapshot, address, inFlightBytes: services.inFlightBytes.ofCall(key) };
}

/** @throws GatewayError when there is none yet, or one too old to tell which keys were revoked */
function liveSnapshot({ snapshots, honoursKeys }: Services): Snapshot {
  if (!snapshots.isReady)
    throw new GatewayError("not_ready", "Service unavailable: the gateway has no configuration yet.");
  if (!honoursKeys())
    throw new GatewayError("not_ready", "Service unavailable: the gateway's configuration is too old.");
  return snapshots.pin();
}

/** Reads the call, reserves what it may need, has it answered; lets go of everything however that went. */
async function serveCall(
  exchange: Exchange,
  services: Services,
  caller: Caller,
  endpoint: ChatEndpoint,
  record: RequestRecord,
): Promise<void> {
  const body = await takeBody(exchange, services, caller); //                                 400 408 413 415 503
  let settlement: CallSettlement | undefined;
  let { heldBytes } = body;
  try {
    record.requestBytes = body.bytes.length;
    const live = afterBody(caller, services, record); //                                                   401 403 503
    // Three stages, because the code of each fills the caches.
    const scanned = scanBody(body.bytes, endpoint, services); //                                                400
    await yieldToBatch;
    const call = chatFormats[endpoint.format].readCall(scanned, endpoint); //                                   400
    await yieldToBatch;
    let authorized = authorizeCall(exchange, services, live, call, record); //                          400 403 404
    if (hasReferences(call)) {
      const resolved = await withReferences(authorized, live); //                                 400 401 403 404 503
      authorized = resolved.authorized;
      heldBytes += resolved.conversationBytes;
    }
    await yieldToBatch;
    const reserving = reserve(authorized, services); //                                                 402 429 503
    const reserved = reserving instanceof Promise ? await reserving : reserving;
    settlement = reserved.settlement;
    await yieldToBatch;
    await serveChat(reserved); //                                                                               5xx
  } finally {
    const pending = settlement?.release();
    if (pending !== undefined) await pending;
    caller.inFlightBytes.release(heldBytes);
  }
}

/** A key whose bodies hold their share is told so before its client is asked for another. */
function takeBody(
  { request, response }: Exchange,
  services: Services,
  { key, inFlightBytes }: Caller,
): RequestBody | Promise<RequestBody> {
  const { limits, bodiesUnderWay } = services;
  bodiesUnderWay.checkRoom(key); //                                                                           503
  const ask = response.expectsContinue ? () => response.writeContinue() : undefined;
  const body = readBody(request, limits, inFlightBytes, ask); //                                  400 408 413 415
  return body instanceof Promise ? bodiesUnderWay.waitFor(key, body) : body;
}

/** Says how long a prompt is; nothing is generated, and nothing but a request is counted. */
async function serveCount(
  exchange: Exchange,
  services: Services,
  caller: Caller,
  endpoint: CountEndpoint,
  record: RequestRecord,
): Promise<void> {
  const body = await takeBody(exchange, services, caller); //                                 400 408 413 415 503
  try {
    record.requestBytes = body.bytes.length;
    const { found, snapshot, address: clientAddress, inFlightBytes } = afterBody(caller, services, record);
    const counter = { exchange, services, snapshot, found, clientAddress, inFlightBytes, record };
    await serveCountTokens(counter, endpoint, body.bytes);
  } finally {
    caller.inFlightBytes.release(body.heldBytes);
  }
}

function recordedFormat(endpoint: Endpoint): MetricFormat {
  if (endpoint.kind === "chat") return endpoint.format;
  if (endpoint.kind === "stored-response") return "Responses";
  return endpoint.kind === "count-tokens" ? "CountTokens" : "Models";
}

/** A body may take a minute to arrive: a key that was revoked or ran out meanwhile begins no call. */
function afterBody(caller: Caller, services: Services, record: RequestRecord): Caller {
  const live = liveSnapshot(services);
  const nowMs = services.now();
  if (live === caller.snapshot && describeLiveness(caller.found, live, nowMs) === undefined) return caller;
  const found = findKey(caller.secret, live, nowMs);
  record.key = found.key;
  authorizeAddress(found.key, caller.address);
  return { ...caller, found, key: found.key, snapshot: live };
}

/** A call that is allowed, with the route it takes. */
type AuthorizedCall = Omit<AdmittedCall, "estimate" | "settlement" | "answerHeaders">;

function scanBody(bytes: Buffer, { format }: ChatEndpoint, { limits }: Services): ScannedObject {
  const { jsonDepthMax, jsonKeysMax } = limits;
  const watch = chatFormats[format].watchedKeys;
  return scanJsonObject(bytes, { depthMax: jsonDepthMax, keysMax: jsonKeysMax, watch });
}

function authorizeCall(
  exchange: Exchange,
  services: Services,
  caller: Caller,
  call: ChatCall,
  record: RequestRecord,
): AuthorizedCall {
  const { key, snapshot, found, address: clientAddress, inFlightBytes } = caller;
  record.model = call.model;
  record.isStream = call.stream;
  const { protocol, capability } = call.endpoint;
  const route = authorizeModel({ key, snapshot, protocol, capability, model: call.model }); //            403 404
  record.route = nameOf(route);
  checkRouteParameters(call, route); //                                                                      400
  const passedHeaders = upstreamHeaders(protocol, exchange.request.rawHeaders); //                            400
  record.traceparent = passedHeaders["traceparent"];
  const format = chatFormats[call.endpoint.format];
  return {
    exchange,
    services,
    snapshot,
    found,
    clientAddress,
    inFlightBytes,
    format,
    call,
    route,
    record,
    passedHeaders,
  };
}

/**
 * With what the call goes on from, so that what is reserved covers it all; one call of a key after the other. Its turn
 * may take long to come: where the configuration has changed meanwhile, the call is authorised again by what holds now.
 */
function withReferences(read: AuthorizedCall, caller: Caller): Promise<ResolvedAuthorizedCall> {
  const { exchange, services, record, call } = read;
  return services.conversationMutex.take(ownerOf(caller.found), async () => {
    if (exchange.response.destroyed) throw new ClientGoneError(undefined);
    const live = afterBody(caller, services, record);
    return resolveHeld(live === caller ? read : authorizeCall(exchange, services, live, call, record));
  });
}

/** A call with what it went on from, and what was taken for that: to be released with its body. */
interface ResolvedAuthorizedCall {
  readonly authorized: AuthorizedCall;
  readonly conversationBytes: number;
}

async function resolveHeld(read: AuthorizedCall): Promise<ResolvedAuthorizedCall> {
  const { call, format, found, snapshot, services, inFlightBytes } = read;
  const { protocol, capability } = call.endpoint;
  const { limits } = services;
  const held = new HeldResponses(services.responses, inFlightBytes, limits.jsonBodyBytesMax);
  const responses = authorizedResponses(held, (model) => {
    authorizeKept({ key: found.key, snapshot, protocol, capability, model }); //                                403
  });
  let authorized: AuthorizedCall;
  try {
    authorized = { ...read, ...(await resolveCall(call, format, ownerOf(found), { responses, limits })) };
  } finally {
    held.release();
  }
  return { authorized, conversationBytes: holdConversation(read, authorized) };
}

/** What a call goes on from counts as its body does. @returns bytes taken, to be released with it */
function holdConversation(read: AuthorizedCall, { call, inFlightBytes }: AuthorizedCall): number {
  if (call.body.bytes === read.call.body.bytes) return 0;
  inFlightBytes.take(call.body.bytes.length);
  return call.body.bytes.length;
}

const routeNames = new WeakMap<Route, string>();

/** `namespace/name`, one string for each route: what counts by it need not look into it. */
function nameOf(route: Route): string {
  let name = routeNames.get(route);
  if (name === undefined) {
    name = `${route.namespace}/${route.name}`;
    routeNames.set(route, name);
  }
  return name;
}

function overloaded(): GatewayError {
  return new GatewayError(
    "overloaded",
    "The gateway is overloaded: it is at its limit of requests in flight. Try again.",
  );
}

/** Reserves what the call may need, all or none: from here on somebody must settle. */
function reserve(authorized: AuthorizedCall, services: Services): AdmittedCall | Promise<AdmittedCall> {
  const { snapshot, call, route } = authorized;
  const { key } = authorized.found;
  const account = key.account === undefined ? undefined : snapshot.account(key.namespace, key.account);
  const claims = claimsOf(key, account, route, call.model);
  const sent = worstCaseOutput(call, route, snapshot);
  const reserveWith = (left?: bigint): AdmittedCall | Promise<AdmittedCall> =>
    reserveEstimate(
      authorized,
      services,
      claims,
      estimateCost(call, route, snapshot.fleet, () => left, sent),
    );
  return capsOutput(call, snapshot.fleet, sent)
    ? balanceLeft(claims.balances, services.ledger).then(reserveWith)
    : reserveWith();
}

function reserveEstimate(
  authorized: AuthorizedCall,
  services: Services,
  claims: Claims,
  estimate: Estimate,
): AdmittedCall | Promise<AdmittedCall> {
  const { limits, balances, concurrency } = claims;
  const request = { id: authorized.record.requestId, amounts: estimate.amounts, limits, balances, concurrency };
  const reserving = reserveRequest(request, authorized.found.key, services); //                                         402 429 503
  return reserving instanceof Promise
    ? reserving.then((late) => admitted(authorized, estimate, late))
    : admitted(authorized, estimate, reserving);
}

function admitted(authorized: AuthorizedCall, estimate: Estimate, reservation: Reservation): AdmittedCall {
  const { exchange, services, snapshot, found, clientAddress, format, call, route, record, passedHeaders } = authorized;
  const { inFlightBytes } = authorized;
  // Before the settlement is made: that one keeps the reservation alive until somebody settles it.
  const headers = answerHeaders(reservation, call.endpoint.protocol, services);
  return {
    exchange,
    services,
    snapshot,
    found,
    clientAddress,
    inFlightBytes,
    format,
    call,
    route,
    record,
    passedHeaders,
    references: authorized.references,
    estimate,
    settlement: new CallSettlement({
      services,
      route,
      call,
      candidates: estimate.candidates,
      reserved: estimate.amounts,
      record,
    }),
    answerHeaders: headers,
  };
}

/**
 * Names and values in turn, as `writeHead` takes them with the least work. Nobody has taken charge of the reservation
 * yet: should this throw, it is given back here.
 */
function answerHeaders(reservation: Reservation, protocol: Protocol, services: Services): string[] {
  const { id } = reservation;
  try {
    const headers = rateLimitHeaders(reservation.states, protocol, services.now());
    headers.push("x-request-id", id, "request-id", id);
    return headers;
  } catch (error) {
    const settling = services.ledger.settle(id, zeroAmounts);
    // A store that does not answer lets it expire.
    if (settling instanceof Promise) settling.catch(() => undefined);
    throw error;
  }
}
