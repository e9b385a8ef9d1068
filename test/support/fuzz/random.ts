/** Choices of a fuzzer: the same for the same seed, so that a case can be named by its number. */
import { seededRandom } from "#test/support/mutate-manifest";

export class Random {
  readonly #next: () => number;

  constructor(seed: number) {
    this.#next = seededRandom(seed);
  }

  /** The choices of one case of a run: independent of the cases before it. */
  static ofCase(seed: number, index: number): Random {
    return new Random((Math.imul(seed, 0x9e3779b1) ^ Math.imul(index + 1, 0x85ebca6b)) | 0);
  }

  /** An integer in [0, end). */
  below(end: number): number {
    return Math.floor(this.#next() * end);
  }

  chance(probability: number): boolean {
    return this.#next() < probability;
  }

  /** @throws Error when there is nothing to choose from */
  pick<Value>(values: readonly Value[]): Value {
    const value = values[this.below(values.length)];
    if (value === undefined) throw new Error("nothing to choose from");
    return value;
  }

  /** Mostly small, sometimes large: 1, 2, 4, ... up to `2 ** exponentMax`. */
  size(exponentMax: number): number {
    return 2 ** this.below(exponentMax + 1);
  }
}
