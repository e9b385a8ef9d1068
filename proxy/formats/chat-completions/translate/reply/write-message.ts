/** Writes what replies and streams have in common: the state of a candidate in its order, and members of calls. */

import type { ReplyContext } from "#proxy/formats/translator";
import type { JsonObject } from "#proxy/json/json-value";
import type { ProviderState } from "#proxy/neutral/conversation";
import type { CallBlock } from "#proxy/neutral/reply";

/**
 * Keeps a candidate's opaque state for the next turn: this format has no place for it, so it is remembered under the id
 * of the call that follows it (docs/design/translation.md 6.2). State that no call follows is lost.
 */
export class TurnStates {
  #waiting: ProviderState[] = [];

  /**
   * State of reasoning and of the provider's own tools. A signature of thinking text is of no use without that text's own
   * place.
   */
  add(state: ProviderState): void {
    if (state.kind !== "thought-signature") this.#waiting.push(state);
  }

  /**
   * Google's own member for the signature of a call, with what its tools did before the call, sealed for the channel that
   * gave it. Empty where there is nothing of Google's.
   * @param own state of the call itself
   */
  signatureMember(own: readonly ProviderState[], { states }: Pick<ReplyContext, "states">): JsonObject {
    const google = [...this.#waiting, ...own].filter(({ kind }) => googleKinds.has(kind));
    return google.length === 0 ? {} : { extra_content: { google: { thought_signature: states.seal(google) } } };
  }

  /** @param own state of the call itself */
  keep(callId: string, own: readonly ProviderState[], { states }: Pick<ReplyContext, "states">): void {
    const all = [...this.#waiting, ...own];
    this.#waiting = [];
    if (all.length > 0) states.remember(callId, all);
  }
}

const googleKinds: ReadonlySet<ProviderState["kind"]> = new Set(["thought-signature", "server-tool-part"]);

/** A call without index, as messages have it. */
export function writeCall({ name, tool }: Pick<CallBlock, "name" | "tool">, id: string, args: string): JsonObject {
  if (tool === "custom") return { id, type: "custom", custom: { name, input: args } };
  return { id, type: "function", function: { name, arguments: args } };
}

const tiers: Readonly<Record<string, string>> = {
  auto: "auto",
  default: "default",
  flex: "flex",
  scale: "scale",
  priority: "priority",
  fast: "fast",
  standard: "default",
};

/** The tier in this format's closed set of words; a provider's own word is none of them. */
export function tierMember(serviceTier: string | undefined): JsonObject {
  const tier = serviceTier !== undefined && Object.hasOwn(tiers, serviceTier) ? tiers[serviceTier] : undefined;
  return tier === undefined ? {} : { service_tier: tier };
}

/** Whether the client is shown what the model thought: unless it said no. */
export function showsReasoning({ conversation }: Pick<ReplyContext, "conversation">): boolean {
  return conversation.reasoning?.show !== false;
}
