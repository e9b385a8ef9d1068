/**
 * Decides who may get which provider state back: it is bound to one channel, one vendor and one client key
 * (docs/design/translation.md 6.2; the contract is `StateKeeper` of `keeper.ts`).
 */
import { createSecretKey, hkdfSync, type KeyObject, randomBytes } from "node:crypto";
import type { CarriedState, ProviderState } from "#proxy/neutral/conversation";
import type { StateKeeper } from "#proxy/neutral/state/keeper";
import type { ChatWireFormat } from "#proxy/neutral/wire";
import type { CallStates } from "./call-states.ts";
import { openEnvelope, sealEnvelope } from "./envelope.ts";

export interface StateScope {
  /** `namespace/name` of the channel. */
  readonly channel: string;
  /**
   * Secrets of its credentials: state belongs to the account behind them. The first one seals, each one opens. Asked for
   * where there is something to seal or to open: most calls carry no state at all.
   */
  readonly secrets: () => readonly string[];
  /** Format spoken with the channel: decides which kinds of state are its own. */
  readonly format: ChatWireFormat;
  /** `namespace/name` of the client's key. */
  readonly key: string;
  /** False where the client or the channel wants nothing stored: what the client's own words cannot carry is lost then. */
  readonly mayRemember: boolean;
}

/** For channels without credentials: their state is lost with this process, and nobody can forge it. */
const processSecret = randomBytes(32).toString("hex");

const ownKinds: Readonly<Record<ChatWireFormat, ReadonlySet<ProviderState["kind"]>>> = {
  ChatCompletions: new Set(["thought-signature", "reasoning-details", "reasoning-text"]),
  Responses: new Set(["encrypted-reasoning"]),
  Messages: new Set(["thinking", "redacted-thinking"]),
  GenerateContent: new Set(["thought-signature", "server-tool-part"]),
};

/** @param callStates shared by all calls of this process */
export function createStateKeeper(scope: StateScope, callStates: CallStates): StateKeeper {
  const owner = `${scope.key}\n${scope.channel}\n${scope.format}`;
  let keys: readonly KeyObject[] | undefined;
  const allKeys = (): readonly KeyObject[] => {
    keys ??= keysOf(scope);
    return keys;
  };
  const open = (carried: CarriedState): readonly ProviderState[] => {
    // Native state was given to the client by its own format's provider, which this channel is not.
    if (carried.type === "native") return [];
    for (const key of allKeys()) {
      const states = openEnvelope(carried.envelope, key);
      if (states !== undefined) return states.filter(({ kind }) => ownKinds[scope.format].has(kind));
    }
    return [];
  };
  return {
    seal: (states) => sealEnvelope(states, allKeys()[0] ?? sealingKey(scope, processSecret)),
    remember(callId, states) {
      if (scope.mayRemember) callStates.remember(owner, callId, states);
    },
    recover(part) {
      const carried = (part.states ?? []).flatMap(open);
      if (carried.length > 0 || part.kind !== "call") return carried;
      return callStates.recall(owner, part.id);
    },
  };
}

function keysOf(scope: StateScope): readonly KeyObject[] {
  const secrets = scope.secrets();
  return (secrets.length === 0 ? [processSecret] : secrets).map((secret) => sealingKey(scope, secret));
}

/** Not the credential itself: a client sees MACs made with it. */
function sealingKey({ channel, key }: StateScope, secret: string): KeyObject {
  const derived = hkdfSync("sha256", secret, `${channel}\n${key}`, "tollgate provider state", 32);
  return createSecretKey(Buffer.from(derived));
}
