/**
 * Finds the key that a presented secret belongs to, and checks that it is alive now.
 *
 * The lookup is by SHA-256, so neither timing nor a memory dump reveals stored keys, and time does not grow with their
 * number. Unknown, suspended, expired and early keys get the same response to the byte: only metrics and logs, by the
 * error's code, tell them apart.
 */
import { hash } from "node:crypto";
import { type ErrorCode, GatewayError } from "#proxy/errors";
import type { FoundKey, Snapshot } from "#proxy/snapshot/snapshot";

/** One text for every key that does not open, so that strangers learn nothing from trying. */
const refusal = "Incorrect API key provided: it is unknown, disabled or expired.";

/**
 * @param secret as `readCredential` returned it
 * @param nowMs milliseconds since the epoch
 * @throws GatewayError `unknown_key`, `key_suspended`, `key_not_yet_valid`, `key_expired`
 */
export function findKey(secret: string, snapshot: Snapshot, nowMs: number): FoundKey {
  const found = snapshot.findKey(hash("sha256", secret, "hex"));
  const problem = found === undefined ? "unknown_key" : describeLiveness(found, snapshot, nowMs);
  if (found !== undefined && problem === undefined) return found;
  throw new GatewayError(problem ?? "unknown_key", refusal);
}

type LivenessProblem = Extract<ErrorCode, "key_suspended" | "key_not_yet_valid" | "key_expired">;

/**
 * Why a key does not open at a time; undefined when it does. Ends are exclusive: at `expiresAt` it is expired. A
 * suspended account suspends its keys. Also serves explain, which names a key and presents no secret.
 */
export function describeLiveness(found: FoundKey, snapshot: Snapshot, nowMs: number): LivenessProblem | undefined {
  const { key, credential } = found;
  if (key.state !== "Active") return "key_suspended";
  if (key.account !== undefined && snapshot.account(key.namespace, key.account)?.state === "Suspended") {
    return "key_suspended";
  }
  if (credential.notBefore !== undefined && nowMs < credential.notBefore) return "key_not_yet_valid";
  if (credential.notAfter !== undefined && nowMs >= credential.notAfter) return "key_expired";
  if (key.expiresAt !== undefined && nowMs >= key.expiresAt) return "key_expired";
  return undefined;
}
