/**
 * Counts which keys were used since the last report to the operator, and when. It is bounded: keys beyond the bound
 * are not counted, as reports may be lost anyway; nothing that is billed depends on them. A use is noted once a
 * request, so it builds no strings.
 */
import type { Key } from "#proxy/snapshot/types.gen";

const keysMax = 10_000;

export interface KeyUse {
  /** Wall clock of the last accepted call, milliseconds since the epoch; 0 where all were refused for a limit. */
  lastUsedAt: number;
  requests: number;
}

export class KeyUses {
  readonly #uses = new Map<Key, KeyUse>();

  /**
   * Counts one call of a key.
   *
   * @param isAccepted false where a limit refused it
   * @param at wall clock, milliseconds since the epoch
   */
  note(key: Key, isAccepted: boolean, at: number): void {
    let use = this.#uses.get(key);
    if (use === undefined) {
      if (this.#uses.size >= keysMax) return;
      use = { lastUsedAt: 0, requests: 0 };
      this.#uses.set(key, use);
    }
    use.requests += 1;
    if (isAccepted && at > use.lastUsedAt) use.lastUsedAt = at;
  }

  /** Takes back what was drained and could not be reported, behind the others. */
  putBack(key: Key, { lastUsedAt, requests }: KeyUse): void {
    const use = this.#uses.get(key);
    if (use !== undefined) {
      use.requests += requests;
      use.lastUsedAt = Math.max(use.lastUsedAt, lastUsedAt);
    } else if (this.#uses.size < keysMax) {
      this.#uses.set(key, { lastUsedAt, requests });
    }
  }

  /** Hands out at most so many, those that waited longest first, and forgets them. */
  drain(most: number): [key: Key, use: KeyUse][] {
    const drained: [Key, KeyUse][] = [];
    for (const entry of this.#uses) {
      if (drained.length >= most) break;
      drained.push(entry);
      this.#uses.delete(entry[0]);
    }
    return drained;
  }
}
