/**
 * State of an answer on its way into signatures (`protocols/translation.md` section 6.2): what was collected goes onto
 * the first call that follows, or onto an empty text at the end. Thinking and texts are left unsigned, for strict
 * clients do not read signed texts (pitfall 129).
 */
import type { ProviderState } from "../../conversation.ts";
import type { StateKeeper } from "../../translator.ts";
import { sealedSignature } from "../thought-signature.ts";

export class PendingStates {
  readonly #keeper: StateKeeper;
  #states: ProviderState[] = [];

  constructor(keeper: StateKeeper) {
    this.#keeper = keeper;
  }

  add(...states: readonly ProviderState[]): void {
    this.#states.push(...states);
  }

  /** What no call took: of thinking as plain text only calls have a use. */
  takeRest(): string | undefined {
    this.#states = this.#states.filter(({ kind }) => kind !== "reasoning-text");
    return this.take();
  }

  /** A signature with everything collected since the last one; undefined when there is nothing. */
  take(): string | undefined {
    if (this.#states.length === 0) return undefined;
    const signature = sealedSignature(this.#keeper.seal(this.#states));
    this.#states = [];
    return signature;
  }
}
