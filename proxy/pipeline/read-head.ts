/**
 * Reads the head of a request: finds its endpoint, its key and its client address, and refuses all that the head alone
 * decides.
 */
import { findKey } from "#proxy/authenticate/find-key";
import { readCredential } from "#proxy/authenticate/read-credential";
import { authorizeAddress } from "#proxy/authorize/authorize-address";
import type { Caller } from "#proxy/dispatch/admitted-call";
import { liveSnapshot } from "#proxy/dispatch/live-caller";
import type { Services } from "#proxy/dispatch/services";
import { type MatchedEndpoint, matchEndpoint } from "#proxy/endpoints/match-endpoint";
import { GatewayError } from "#proxy/errors";
import { formatIpAddress } from "#proxy/http/address/ip-address";
import { readClientAddress } from "#proxy/http/client-address";
import { gatewayErrorOf } from "#proxy/http/gateway-error-of";
import type { Exchange } from "#proxy/http1/server/exchange";
import type { RequestRecord } from "#proxy/observe/request-record";

export interface AuthenticatedHead {
  readonly matched: MatchedEndpoint;
  readonly caller: Caller;
}

/**
 * An overloaded proxy says so of whatever is asked, and before the client is asked for a body.
 * @throws GatewayError for everything that the head alone refuses
 */
export function readHead(exchange: Exchange, services: Services, record: RequestRecord): AuthenticatedHead {
  const { request } = exchange;
  const { limits } = services;
  const headers = request.rawHeaders;
  const { url } = request;
  if (request.problem !== undefined) throw gatewayErrorOf(request.problem); //                                   400 405 417 431
  // Known before anything is refused: the log names the client of every request.
  const clientAddress = readClientAddress(request.remoteAddress, headers, services.trustedProxies);
  record.clientAddress = clientAddress === undefined ? "" : formatIpAddress(clientAddress);
  const matched = matchEndpoint(request.method, url, headers, limits.targetBytesMax); //      404 405 414 426
  record.format = matched.endpoint.metricFormat(matched.match);
  matched.endpoint.refuseCredentials?.(headers); //                                                          401
  const snapshot = liveSnapshot(services); //                                                                 503
  const secret = readCredential(matched.match.protocol, headers, url); //                                     401
  const found = findKey(secret, snapshot, services.now()); //                                                 401
  record.key = found.key;
  authorizeAddress(found.key, clientAddress); //                                                              403
  if (services.metrics.inFlight > limits.inFlightRequestsMax) throw overloaded(); //                          503
  const inFlightBytes = services.inFlightBytes.ofCall(found.key);
  return { matched, caller: { exchange, services, record, snapshot, secret, found, clientAddress, inFlightBytes } };
}

function overloaded(): GatewayError {
  return new GatewayError(
    "overloaded",
    "The gateway is overloaded: it is at its limit of requests in flight. Try again.",
  );
}
