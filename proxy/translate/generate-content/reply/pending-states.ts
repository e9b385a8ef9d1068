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

  /** A signature with everything collected since the last one; undefined when there is nothing. */
  take(): string | undefined {
    if (this.#states.length === 0) return undefined;
    const signature = sealedSignature(this.#keeper.seal(this.#states));
    this.#states = [];
    return signature;
  }
}
