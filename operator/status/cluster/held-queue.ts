/**
 * Objects that wait to be written, each for as long as its case needs: what comes meanwhile is written together. Every
 * case has its own first-in-first-out line, so that nothing is ever sorted or searched, however many objects wait.
 */
export class HeldQueue {
  /** By how long one waits; each in the order of its due times. */
  readonly #lines: ReadonlyMap<number, Map<string, number>>;
  /** When each was first put, the oldest first. */
  readonly #since = new Map<string, number>();

  /** @param delaysMs the waits that there are, the shortest first */
  constructor(delaysMs: readonly number[]) {
    this.#lines = new Map(delaysMs.map((delayMs) => [delayMs, new Map()]));
  }

  get size(): number {
    let size = 0;
    for (const line of this.#lines.values()) size += line.size;
    return size;
  }

  /** Those that wait and those that were taken and are not done. */
  get open(): number {
    return this.#since.size;
  }

  /** Since when the oldest of them waits; undefined: none does. */
  get oldestSinceMs(): number | undefined {
    for (const sinceMs of this.#since.values()) return sinceMs;
    return undefined;
  }

  /** Puts an object in line, but where it is due sooner already. */
  put(id: string, delayMs: number, nowMs: number): void {
    const dueMs = nowMs + delayMs;
    if (!this.#since.has(id)) this.#since.set(id, nowMs);
    for (const line of this.#lines.values()) {
      const presentMs = line.get(id);
      if (presentMs === undefined) continue;
      if (presentMs <= dueMs) return;
      line.delete(id);
    }
    this.#lines.get(delayMs)?.set(id, dueMs);
  }

  /** When the next is due; undefined: none waits. */
  nextDueMs(): number | undefined {
    let least: number | undefined;
    for (const line of this.#lines.values()) {
      for (const dueMs of line.values()) {
        if (least === undefined || dueMs < least) least = dueMs;
        break;
      }
    }
    return least;
  }

  /** Takes the one that is due longest. */
  take(nowMs: number): string | undefined {
    const leastMs = this.nextDueMs();
    if (leastMs === undefined || leastMs > nowMs) return undefined;
    for (const line of this.#lines.values()) {
      for (const [id, dueMs] of line) {
        if (dueMs !== leastMs) break;
        line.delete(id);
        return id;
      }
    }
    return undefined;
  }

  /** It is written, or need not be. Not where it was put again meanwhile. */
  done(id: string): void {
    for (const line of this.#lines.values()) if (line.has(id)) return;
    this.#since.delete(id);
  }

  clear(): void {
    for (const line of this.#lines.values()) line.clear();
    this.#since.clear();
  }
}
