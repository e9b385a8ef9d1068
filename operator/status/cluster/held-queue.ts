/**
 * A queue of objects that wait to be written, each for a delay from a fixed set, so that later changes are written
 * together.
 *
 * Each delay has its own first-in-first-out line, so that nothing is ever sorted or searched, however many objects
 * wait.
 */
export class HeldQueue {
  /** The lines, by delay. */
  readonly #lines: ReadonlyMap<number, Line>;
  /** When each was first put, the oldest first. */
  readonly #since = new Map<string, number>();

  /** @param delaysMs all delays that are used */
  constructor(delaysMs: readonly number[]) {
    this.#lines = new Map(delaysMs.map((delayMs) => [delayMs, new Line()]));
  }

  /** The number of waiting objects. */
  get size(): number {
    let size = 0;
    for (const line of this.#lines.values()) size += line.size;
    return size;
  }

  /** The number of objects that wait or were shifted and are not done. */
  get open(): number {
    return this.#since.size;
  }

  /** Since when the oldest of them waits; undefined when there is none. */
  get oldestSinceMs(): number | undefined {
    for (const sinceMs of this.#since.values()) return sinceMs;
    return undefined;
  }

  /** Puts an object in line, unless it is due sooner already. @param delayMs one of the constructor's delays */
  put(id: string, delayMs: number, nowMs: number): void {
    const dueMs = nowMs + delayMs;
    if (!this.#since.has(id)) this.#since.set(id, nowMs);
    for (const line of this.#lines.values()) {
      const presentMs = line.dueMsOf(id);
      if (presentMs === undefined) continue;
      if (presentMs <= dueMs) return;
      line.remove(id);
    }
    this.#lines.get(delayMs)?.append(id, dueMs);
  }

  /** When the next is due; undefined: none waits. */
  nextDueMs(): number | undefined {
    return this.#firstLine()?.headDueMs();
  }

  /** Removes and returns the object that has been due for longest. */
  shift(nowMs: number): string | undefined {
    const line = this.#firstLine();
    const dueMs = line?.headDueMs();
    return dueMs === undefined || dueMs > nowMs ? undefined : line?.shift();
  }

  /** The object is written or need not be; one that was put again meanwhile stays. */
  done(id: string): void {
    for (const line of this.#lines.values()) if (line.dueMsOf(id) !== undefined) return;
    this.#since.delete(id);
  }

  clear(): void {
    for (const line of this.#lines.values()) line.clear();
    this.#since.clear();
  }

  #firstLine(): Line | undefined {
    let first: Line | undefined;
    let leastMs = Number.POSITIVE_INFINITY;
    for (const line of this.#lines.values()) {
      const dueMs = line.headDueMs();
      if (dueMs === undefined || dueMs >= leastMs) continue;
      leastMs = dueMs;
      first = line;
    }
    return first;
  }
}

/** A list and not a map alone: the first of a map is slow to find once many before it were deleted. */
class Line {
  readonly #dueMs = new Map<string, number>();
  #entries: { readonly id: string; readonly dueMs: number }[] = [];
  #head = 0;

  get size(): number {
    return this.#dueMs.size;
  }

  dueMsOf(id: string): number | undefined {
    return this.#dueMs.get(id);
  }

  append(id: string, dueMs: number): void {
    this.#dueMs.set(id, dueMs);
    this.#entries.push({ id, dueMs });
  }

  /** Its place stays in the list and is passed over. */
  remove(id: string): void {
    this.#dueMs.delete(id);
  }

  headDueMs(): number | undefined {
    for (let entry = this.#entries[this.#head]; entry !== undefined; entry = this.#entries[this.#head]) {
      if (this.#dueMs.get(entry.id) === entry.dueMs) return entry.dueMs;
      this.#head += 1;
    }
    this.clear();
    return undefined;
  }

  shift(): string | undefined {
    if (this.headDueMs() === undefined) return undefined;
    const id = this.#entries[this.#head]?.id;
    if (id !== undefined) this.#dueMs.delete(id);
    this.#head += 1;
    if (this.#head > 1_024 && this.#head * 2 > this.#entries.length) {
      this.#entries = this.#entries.slice(this.#head);
      this.#head = 0;
    }
    return id;
  }

  clear(): void {
    this.#dueMs.clear();
    this.#entries = [];
    this.#head = 0;
  }
}
