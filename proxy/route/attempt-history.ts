/**
 * Remembers the attempts of one call, so that it sends no target the same request twice.
 *
 * A target is left out when its attempt begins. Where its credential was at fault and its channel has another, it is
 * tried again: at once when the provider refused the credential, but not with the last attempt, which goes to a target
 * that was not tried if there is one. Money and rates mostly belong to the provider's account, so for those all other
 * targets come first.
 */
import type { FailoverCondition } from "./failover.ts";

export class AttemptHistory {
  readonly #targets = new Set<string>();
  /** Left out until there is no other. Made when needed, as is the next: mostly a call has one attempt. */
  #later: Set<string> | undefined;
  /** `target/credential`; the names of credentials hold no slash. */
  #credentials: Set<string> | undefined;

  /** Leaves a target out from now on. */
  addTarget(target: string): void {
    this.#targets.add(target);
  }

  /**
   * Notes why an attempt failed.
   * @param credential undefined for a channel that needs none
   * @param attemptsLeft how many may follow
   */
  addFailure(
    target: string,
    credential: string | undefined,
    condition: FailoverCondition | undefined,
    attemptsLeft: number,
  ): void {
    if (credential === undefined) return;
    const isRejected = condition === "CredentialRejected";
    if (!isRejected && condition !== "PaymentRequired" && condition !== "RateLimited") return;
    this.#credentials ??= new Set();
    this.#credentials.add(`${target}/${credential}`);
    if (isRejected && attemptsLeft > 1) this.#targets.delete(target);
    else {
      this.#later ??= new Set();
      this.#later.add(target);
    }
  }

  /** Where no target is left: lets those be asked again whose credential was at fault. @returns whether there are any */
  reopen(): boolean {
    if (this.#later === undefined) return false;
    for (const target of this.#later) this.#targets.delete(target);
    this.#later = undefined;
    return true;
  }

  hasTarget(target: string): boolean {
    return this.#targets.has(target);
  }

  hasCredential(target: string, credential: string): boolean {
    return this.#credentials?.has(`${target}/${credential}`) === true;
  }

  /** Whether any credential was tried in vain: mostly none, and then no pool need be filtered. */
  get hasCredentials(): boolean {
    return this.#credentials !== undefined;
  }
}
