/** Finds the caller of a request anew by the configuration that holds now: a request may take long, and a session longer. */
import { describeLiveness, findKey } from "#proxy/authenticate/find-key";
import { authorizeAddress } from "#proxy/authorize/authorize-address";
import { GatewayError } from "#proxy/errors";
import type { Snapshot } from "#proxy/snapshot/snapshot";
import type { Caller } from "./admitted-call.ts";
import type { Services } from "./services.ts";

/**
 * The caller as of now. A body may take a minute to arrive: a key that was revoked or ran out meanwhile begins no call.
 * @throws GatewayError 401, 403, 503
 */
export function authenticateAgain(caller: Caller): Caller {
  const { services } = caller;
  const live = liveSnapshot(services);
  const nowMs = services.now();
  if (live === caller.snapshot && describeLiveness(caller.found, live, nowMs) === undefined) return caller;
  const found = findKey(caller.secret, live, nowMs);
  caller.record.key = found.key;
  authorizeAddress(found.key, caller.clientAddress);
  return { ...caller, found, snapshot: live };
}

/** @throws GatewayError when there is none yet, or one too old to tell which keys were revoked */
export function liveSnapshot({ snapshots, honoursKeys }: Services): Snapshot {
  if (!snapshots.isReady)
    throw new GatewayError("not_ready", "Service unavailable: the gateway has no configuration yet.");
  if (!honoursKeys())
    throw new GatewayError("not_ready", "Service unavailable: the gateway's configuration is too old.");
  return snapshots.pin();
}
