/** The attempts that run now, with the key each works for: so that draining and revocation can end them. */
import type { Attempt, StopReason } from "./attempt.ts";

export class OpenAttempts {
  readonly #keys = new Map<Attempt, string>();

  /** @param key `namespace/name` */
  add(attempt: Attempt, key: string): void {
    this.#keys.set(attempt, key);
  }

  delete(attempt: Attempt): void {
    this.#keys.delete(attempt);
  }

  get size(): number {
    return this.#keys.size;
  }

  /** Ends every attempt whose key the predicate picks; all of them when none is given. */
  stop(reason: StopReason, picks: (key: string) => boolean = () => true): void {
    for (const [attempt, key] of [...this.#keys]) if (picks(key)) attempt.stop(reason);
  }
}
