/**
 * Decides whether a running call may continue under a newer configuration (PURE), as `revocation: Immediate` requires.
 *
 * A call ends when its key lost something it needs: its state, its account, the credential used, the address, the
 * protocol, the capability or the model. A route or channel that changed or was deleted never cuts a call
 * (docs/design/operations.md 3.2).
 */
import { describeLiveness } from "#proxy/authenticate/find-key";
import { isRestricted } from "#proxy/authorize/decide";
import type { ChatEndpoint } from "#proxy/formats/format";
import type { IpAddress } from "#proxy/http/address/ip-address";
import type { FoundKey, Snapshot } from "#proxy/snapshot/snapshot";

/** Who makes a call and what it is. */
export interface RunningCall {
  /** As found when the call began. */
  readonly found: FoundKey;
  readonly clientAddress: IpAddress | undefined;
  readonly call: {
    readonly model: string;
    readonly endpoint: Pick<ChatEndpoint, "protocol" | "capability">;
  };
}

/** @param nowMs milliseconds since the epoch */
export function isStillAllowed(
  { found, clientAddress, call }: RunningCall,
  snapshot: Snapshot,
  nowMs: number,
): boolean {
  const live = snapshot.findKey(found.credential.sha256);
  if (live === undefined || live.key.name !== found.key.name || live.key.namespace !== found.key.namespace)
    return false;
  if (describeLiveness(live, snapshot, nowMs) !== undefined) return false;
  // An unchanged key can have lost its account, or the leave to be without one.
  const hasAccount =
    live.key.account !== undefined && snapshot.account(live.key.namespace, live.key.account) !== undefined;
  const isFree = live.key.account === undefined && !snapshot.fleet.requireAccount;
  if (live.key === found.key && (hasAccount || isFree)) return true;
  const { protocol, capability } = call.endpoint;
  return !isRestricted({ key: live.key, snapshot, protocol, capability, model: call.model, clientAddress });
}
