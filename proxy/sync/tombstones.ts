/**
 * Remembers the uids of deleted resources for an hour: a recreated resource has another uid, so one of these can only
 * come from an operator that lives in the past (docs/design/configuration.md 3.12).
 */

const keptMs = 3_600_000;
/** As many as one transaction may tell; the oldest go first. */
const uidsMax = 20_000;

export class Tombstones {
  readonly #diedAt = new Map<string, number>();

  /** @param nowMs on a clock that never jumps */
  add(uids: readonly string[], nowMs: number): void {
    for (const uid of uids) if (!this.#diedAt.has(uid)) this.#diedAt.set(uid, nowMs);
    for (const [uid, diedAt] of this.#diedAt) {
      if (this.#diedAt.size <= uidsMax && nowMs - diedAt < keptMs) return;
      this.#diedAt.delete(uid);
    }
  }

  has(uid: string, nowMs: number): boolean {
    const diedAt = this.#diedAt.get(uid);
    return diedAt !== undefined && nowMs - diedAt < keptMs;
  }

  /** The source itself went back in time, and that counts. */
  clear(): void {
    this.#diedAt.clear();
  }
}
