/** Says whether an open session may go on by the configuration that holds now (PURE). */
import { describeLiveness } from "#proxy/authenticate/find-key";
import type { Caller } from "#proxy/dispatch/admitted-call";
import { isStillAllowed } from "#proxy/dispatch/revocation/is-still-allowed";
import type { Snapshot } from "#proxy/snapshot/snapshot";

/** @param models all that the session uses; none before the client of a transcription has named one */
export function isSessionAllowed(
  { found, clientAddress }: Pick<Caller, "found" | "clientAddress">,
  models: readonly string[],
  snapshot: Snapshot,
  nowMs: number,
): boolean {
  if (models.length === 0) {
    const live = snapshot.findKey(found.credential.sha256);
    return live !== undefined && describeLiveness(live, snapshot, nowMs) === undefined;
  }
  const endpoint = { protocol: "OpenAI", capability: "Realtime" } as const;
  return models.every((model) => isStillAllowed({ found, clientAddress, call: { model, endpoint } }, snapshot, nowMs));
}
