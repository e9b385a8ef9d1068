/** Ids that are each given out once, however often providers say the same one: a client pairs results by them. */
export class UniqueIds {
  readonly #taken = new Set<string>();
  /** How often an id was asked for, so that thousands of equal ones do not search thousands of times. */
  readonly #counts = new Map<string, number>();

  /** @returns the id itself the first time, then one with a number behind it */
  take(id: string): string {
    let count = this.#counts.get(id) ?? 1;
    let free = id;
    for (; this.#taken.has(free); count += 1) free = `${id}_${count + 1}`;
    this.#counts.set(id, count);
    this.#taken.add(free);
    return free;
  }
}
