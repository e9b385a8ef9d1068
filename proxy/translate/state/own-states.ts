/**
 * Provider state on its way to a client of the provider's own format: as the provider wrote it, in no envelope. Needed
 * where one side streams and the other does not, and the answer is written anew.
 */
import type { ProviderState } from "../conversation.ts";
import type { StateKeeper } from "../translator.ts";

/** @param foreign for what the format has no one place for */
export function ownStates(foreign: StateKeeper): StateKeeper {
  return { ...foreign, seal: (states) => ownValue(states) ?? foreign.seal(states) };
}

function ownValue(states: readonly ProviderState[]): string | undefined {
  const [state] = states;
  if (state === undefined || states.length > 1) return undefined;
  switch (state.kind) {
    case "thinking":
      return state.signature;
    case "thought-signature":
    case "encrypted-reasoning":
      return state.data;
    default:
      // Redacted thinking is a block of its own, not the signature of one.
      return undefined;
  }
}
