/**
 * Bounds one call: aborts its signal when its time is over or the caller gives up. Disposing of it releases the
 * caller's signal.
 */
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

  /** Whether the time is over; false when the caller gave up. */
  get isOver(): boolean {
    return this.#isOver;
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#asker?.removeEventListener("abort", this.#onAbort);
  }
}
