import { claimsOf } from "./admit/claims.ts";
import { type ReserveRequest, zeroAmounts } from "./admit/ledger.ts";
import type { RequestRecord } from "./observe/request-record.ts";
import type { FoundKey, Snapshot } from "./snapshot/snapshot.ts";
import type { Route } from "./snapshot/types.gen.ts";

interface Caller {
  readonly snapshot: Snapshot;
  readonly found: FoundKey;
  readonly record: RequestRecord;
}

/** What is reserved for a question that generates nothing: one request of all limits that hold for the caller. */
export function oneRequest({ snapshot, found, record }: Caller, route: Route, model: string): ReserveRequest {
  const { key } = found;
  const account = key.account === undefined ? undefined : snapshot.account(key.namespace, key.account);
  const amounts = { ...zeroAmounts, requests: 1n };
  return { id: record.requestId, amounts, ...claimsOf(key, account, route, model) };
}
