/** Runs a few tasks at a time. Others wait in order, and beyond a bound they are refused. */
export class Gate {
  readonly #atOnceMax: number;
  readonly #waitingMax: number;
  readonly #waiting: (() => void)[] = [];
  #inside = 0;

  constructor(atOnceMax: number, waitingMax: number) {
    this.#atOnceMax = atOnceMax;
    this.#waitingMax = waitingMax;
  }

  /** Runs the task when there is room. @throws Error when too many wait, and whatever the task throws */
  async pass<Result>(task: () => Promise<Result>): Promise<Result> {
    if (this.#inside >= this.#atOnceMax) {
      if (this.#waiting.length >= this.#waitingMax) throw new Error("too many tasks are waiting");
      // A finished task passes its place on, so that no later task overtakes the first in line.
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } else this.#inside += 1;
    try {
      return await task();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#inside -= 1;
      else next();
    }
  }
}
