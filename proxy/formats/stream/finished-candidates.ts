/** Tracks which candidates of a stream began and which of them ended: a reply with one cut candidate is cut (PURE). */

/** More than any chat format lets a client ask for. */
const chatCandidatesMax = 128;

export class FinishedCandidates {
  readonly #candidatesMax: number;
  readonly #open = new Set<number>();
  readonly #finished = new Set<number>();
  #hasFinish = false;
  /** No candidate is waited for any more. */
  #isAnyEndTheEnd = false;

  /** @param candidatesMax those that were asked for: beyond, an upstream counts something else, and any end is the end */
  constructor(candidatesMax = chatCandidatesMax) {
    this.#candidatesMax = candidatesMax;
  }

  /** Some candidate ended and none that began is unfinished. */
  get areWhole(): boolean {
    return this.#hasFinish && (this.#isAnyEndTheEnd || this.#open.size === 0);
  }

  /**
   * Takes any order, and the same event twice.
   *
   * @param index the candidate's own `index`; formats leave it out for the first
   */
  note(index: unknown, isFinished: boolean): void {
    const candidate = typeof index === "number" ? index : 0;
    if (isFinished) this.#hasFinish = true;
    if (this.#isAnyEndTheEnd || this.#finished.has(candidate)) return;
    if (isFinished) {
      this.#open.delete(candidate);
      this.#finished.add(candidate);
    } else {
      this.#open.add(candidate);
    }
    this.#isAnyEndTheEnd = this.#open.size + this.#finished.size > this.#candidatesMax;
  }

  /** The whole reply ended, whatever its candidates say. */
  noteEnd(): void {
    this.#hasFinish = true;
    this.#isAnyEndTheEnd = true;
  }
}
