/**
 * Collects the state of a reply for its signatures (docs/design/translation.md 6.2): it goes onto the first call that
 * follows, or onto an empty text at the end. Thinking and texts stay unsigned, because strict clients do not read
 * signed texts (pitfall 129).
 */

import { sealedSignature, signsCalls } from "#proxy/formats/generate-content/translate/thought-signature";
import type { ReplyContext } from "#proxy/formats/translator";
import type { ProviderState } from "#proxy/neutral/conversation";
import type { StateKeeper } from "#proxy/neutral/state/keeper";

export class PendingStates {
  readonly #keeper: StateKeeper;
  #states: ProviderState[] = [];
  #expectsSignature: boolean;

  constructor({ states, conversation }: Pick<ReplyContext, "states" | "conversation">) {
    this.#keeper = states;
    this.#expectsSignature = signsCalls(conversation.model);
  }

  add(...states: readonly ProviderState[]): void {
    this.#states.push(...states);
  }

  /**
   * As `consume`, but under the name of a model that signs the first call of a reply that one is signed in any case:
   * clients take a call without a signature for one that they lost, warn, and put a stand-in there. An envelope of
   * nothing is the truth, and is base64, which Google's own stand-in is not to every reader; it comes back as what no
   * provider gets to see.
   */
  consumeForCall(): string | undefined {
    const isExpected = this.#expectsSignature;
    this.#expectsSignature = false;
    return this.consume() ?? (isExpected ? sealedSignature(this.#keeper.seal([])) : undefined);
  }

  /** What no call took: of thinking as plain text only calls have a use. */
  takeRest(): string | undefined {
    this.#states = this.#states.filter(({ kind }) => kind !== "reasoning-text");
    return this.consume();
  }

  /** A signature with everything collected since the last one; undefined when there is nothing. */
  consume(): string | undefined {
    if (this.#states.length === 0) return undefined;
    const signature = sealedSignature(this.#keeper.seal(this.#states));
    this.#states = [];
    return signature;
  }
}
