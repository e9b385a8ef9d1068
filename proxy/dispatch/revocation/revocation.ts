/**
 * Tells whether the key of a call was revoked since the call began. Callers ask after each wait during which nothing
 * was open that a new configuration could have stopped: the queue for large bodies, the ledger, a store, an estimate.
 */

import type { Services } from "#proxy/dispatch/services";
import type { Snapshot } from "#proxy/snapshot/snapshot";
import { errorOfStop } from "#proxy/upstream/describe-outcome";
import { isStillAllowed, type RunningCall } from "./is-still-allowed.ts";

interface Waited extends RunningCall {
  readonly services: Pick<Services, "snapshots" | "now">;
  /** Under which it began. */
  readonly snapshot: Snapshot;
}

/** Never where the fleet lets calls finish that have begun. */
export function wasRevoked(waited: Waited): boolean {
  const { services, snapshot } = waited;
  const live = services.snapshots.pin();
  if (live === snapshot || live.fleet.revocation !== "Immediate") return false;
  return !isStillAllowed(waited, live, services.now());
}

/** @throws GatewayError `key_suspended` */
export function refuseRevoked(waited: Waited): void {
  if (wasRevoked(waited)) throw errorOfStop("revoked");
}
