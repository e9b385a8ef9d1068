/** Reserves all that an authorised call may need, or nothing. After this the call must be settled. */
import { type Claims, claimsOf } from "#proxy/admit/claims";
import type { Estimate } from "#proxy/admit/estimate-cost";
import { type Reservation, zeroAmounts } from "#proxy/admit/ledger";
import { rateLimitHeaders } from "#proxy/admit/rate-limit-headers";
import type { AdmittedCall, AuthorizedCall } from "#proxy/dispatch/admitted-call";
import { reserveRequest } from "#proxy/dispatch/reservations/reserve-request";
import type { Services } from "#proxy/dispatch/services";
import type { ModelEndpoint } from "#proxy/endpoints/endpoint";
import type { Protocol } from "#proxy/neutral/wire";

/** @throws GatewayError 402, 403, 429, 503 */
export function admitCall(authorized: AuthorizedCall, endpoint: ModelEndpoint): AdmittedCall | Promise<AdmittedCall> {
  const { snapshot, call, route, found } = authorized;
  const { key } = found;
  const account = key.account === undefined ? undefined : snapshot.account(key.namespace, key.account);
  const claims = claimsOf(key, account, route, call.model);
  const estimate = endpoint.need(authorized, claims);
  if (!(estimate instanceof Promise)) return reserve(authorized, endpoint, claims, estimate);
  // It asks the ledger what a balance affords.
  const askedSinceMs = performance.now();
  return estimate.then((late) => reserve(authorized, endpoint, claims, late, askedSinceMs));
}

function reserve(
  authorized: AuthorizedCall,
  endpoint: ModelEndpoint,
  claims: Claims,
  estimate: Estimate,
  askedSinceMs?: number,
): AdmittedCall | Promise<AdmittedCall> {
  const { services, found, record } = authorized;
  const { limits, balances, concurrency } = claims;
  const asked = askedSinceMs === undefined ? undefined : { askedSinceMs };
  const request = { id: record.requestId, amounts: estimate.amounts, limits, balances, concurrency, ...asked };
  const reserving = reserveRequest(request, found.key, services); //                                      402 429 503
  return reserving instanceof Promise
    ? reserving.then((late) => admitted(authorized, endpoint, estimate, late))
    : admitted(authorized, endpoint, estimate, reserving);
}

function admitted(
  authorized: AuthorizedCall,
  endpoint: ModelEndpoint,
  estimate: Estimate,
  reservation: Reservation,
): AdmittedCall {
  const { services, call, route, record } = authorized;
  // Before the settlement is made: that one keeps the reservation alive until somebody settles it.
  const headers = createResponseHeaders(reservation, call.endpoint.protocol, services);
  const settlement = endpoint.settlement({ services, route, call, estimate, record });
  return { ...authorized, estimate, settlement, responseHeaders: headers };
}

/**
 * Names and values alternate, as `writeHead` reads them with the least work. Nobody has taken charge of the reservation
 * yet: should this throw, it is given back here.
 */
function createResponseHeaders(reservation: Reservation, protocol: Protocol, services: Services): string[] {
  const { id } = reservation;
  try {
    const headers = rateLimitHeaders(reservation.states, protocol, services.now());
    headers.push("x-request-id", id, "request-id", id);
    return headers;
  } catch (error) {
    const settling = services.ledger.settle(id, zeroAmounts);
    // A store that does not reply lets it expire.
    if (settling instanceof Promise) settling.catch(() => undefined);
    throw error;
  }
}
