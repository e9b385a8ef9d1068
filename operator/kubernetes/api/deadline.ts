/** The end of one call: its time is over, or whoever asked gave up. Lets go of the asker's signal when disposed. */
export class CallDeadline implements Disposable {
  readonly #controller = new AbortController();
  readonly #asker: AbortSignal | undefined;
  readonly #timer: NodeJS.Timeout;
  readonly #onAbort = () => this.#controller.abort(this.#asker?.reason);
  #isOver = false;

  constructor(timeoutMs: number, asker?: AbortSignal) {
    this.#asker = asker;
    this.#timer = setTimeout(() => {
      this.#isOver = true;
      this.#controller.abort();
    }, timeoutMs);
    // Not `AbortSignal.any`: a signal that lives as long as the operator would collect one entry a call.
    if (asker?.aborted) this.#onAbort();
    else asker?.addEventListener("abort", this.#onAbort, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The time is over; false where the asker gave up. */
  get isOver(): boolean {
    return this.#isOver;
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#asker?.removeEventListener("abort", this.#onAbort);
  }
}
