/**
 * Asks the ledger for a reservation, reports its decision to the metrics, and turns a refusal into the client's error.
 */
import { claimsOf } from "#proxy/admit/claims";
import { oneRequestAmounts, type Refusal, type Reservation, type ReserveRequest } from "#proxy/admit/ledger";
import { refusalToError } from "#proxy/admit/refusal-to-error";
import type { Services } from "#proxy/dispatch/services";
import type { RequestRecord } from "#proxy/observe/request-record";
import type { FoundKey, Snapshot } from "#proxy/snapshot/snapshot";
import type { Key, Route } from "#proxy/snapshot/types.gen";

/**
 * Reserves what one request of a key may need of key, account and route, all or none, and counts what was decided. From
 * here on somebody must settle.
 *
 * @throws GatewayError when the ledger refused: used up, too many at once, or the store is not there
 */
export function reserveRequest(
  request: ReserveRequest,
  key: Key,
  services: Services,
): Reservation | Promise<Reservation> {
  const startedMs = performance.now();
  const result = services.ledger.reserve(request);
  return result instanceof Promise
    ? result.then((late) => reserved(late, key, services, startedMs))
    : reserved(result, key, services, startedMs);
}

/** Who asks something that generates nothing. */
interface OneRequestCaller {
  readonly services: Services;
  readonly snapshot: Snapshot;
  readonly found: FoundKey;
  readonly record: RequestRecord;
}

/** Reserves one request of all limits that hold for the caller. @throws GatewayError as `reserveRequest` does */
export function reserveOneRequest(
  { services, snapshot, found: { key }, record }: OneRequestCaller,
  route: Route,
  model: string,
): Reservation | Promise<Reservation> {
  const account = key.account === undefined ? undefined : snapshot.account(key.namespace, key.account);
  const claims = claimsOf(key, account, route, model);
  return reserveRequest({ id: record.requestId, amounts: oneRequestAmounts, ...claims }, key, services);
}

function reserved(result: Reservation | Refusal, key: Key, services: Services, startedMs: number): Reservation {
  const { keyUses, metrics } = services;
  const nowMs = services.now();
  metrics.ledgerTook("reserve", performance.now() - startedMs);
  keyUses.note(key, result.kind === "reserved", nowMs);
  if (result.kind === "refused") {
    metrics.quotaDecision(result.reason);
    throw refusalToError(result, nowMs);
  }
  metrics.quotaDecision("reserved");
  return result;
}
