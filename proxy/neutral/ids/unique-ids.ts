/** Assigns each id once, however often providers repeat one: a client pairs results with calls by them. */
export class UniqueIds {
  readonly #assigned = new Set<string>();
  /** How often an id was asked for, so that thousands of equal ones do not search thousands of times. */
  readonly #counts = new Map<string, number>();

  /** @returns the id itself the first time, then one with a number behind it */
  assign(id: string): string {
    let count = this.#counts.get(id) ?? 1;
    let free = id;
    for (; this.#assigned.has(free); count += 1) free = `${id}_${count + 1}`;
    this.#counts.set(id, count);
    this.#assigned.add(free);
    return free;
  }
}
