/**
 * Runs one piece of work of an owner at a time. Putting a conversation together means reading, parsing and writing
 * megabytes for a call of a few bytes, so one key's calls must not do it side by side.
 */
export class KeyedMutex {
  /** The last work of each owner that has some. */
  readonly #last = new Map<string, Promise<unknown>>();

  /** Does the work when all that this owner was to do before is done, however that ended. */
  async run<Result>(owner: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.#last.get(owner);
    const done = before === undefined ? work() : before.then(work, work);
    this.#last.set(owner, done);
    try {
      return await done;
    } finally {
      if (this.#last.get(owner) === done) this.#last.delete(owner);
    }
  }
}
