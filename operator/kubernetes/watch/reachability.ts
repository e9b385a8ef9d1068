/**
 * Whether the API server is there at all: asked once for all watches, so that none of them storms it.
 *
 * Any answer or byte counts as a sign of life. After too long a silence, or when a call found nobody, one small question
 * goes out; while it is not answered it is asked again about once a second, and everybody waits for the answer instead
 * of trying for himself. A hung API server keeps its sockets open, so this is what notices it (RELIABILITY.md J2).
 */
import { ApiError, isUnreachable } from "#operator/kubernetes/api/api-error";
import { pause } from "./backoff.ts";
import type { WatchTimings } from "./timings.ts";

export interface ReachabilityOptions {
  /** Asks the API server; rejects with an `ApiError`. */
  readonly probe: (signal: AbortSignal) => Promise<void>;
  readonly timings: Pick<WatchTimings, "silenceMs" | "probeEveryMs">;
  /** Told when it is lost and when it is back. */
  readonly onChange: (isReachable: boolean) => void;
  readonly random?: () => number;
}

/** An API server that answers, but that it is not ready, is believed for this long. */
const notReadyMaxMs = 30_000;
/** One that does not want to say may still be starting: until it has read its rules it refuses everybody. */
const refusedMaxMs = 5_000;

export class Reachability {
  readonly #options: ReachabilityOptions;
  readonly #random: () => number;
  readonly #stop = new AbortController();
  readonly #silence: NodeJS.Timeout;
  readonly #lostListeners = new Set<() => void>();
  #heardAtMs = performance.now();
  #askedAtMs = Number.NEGATIVE_INFINITY;
  #asking: Promise<void> | undefined;
  #isReachable = true;

  constructor(options: ReachabilityOptions) {
    this.#options = options;
    this.#random = options.random ?? Math.random;
    const { silenceMs } = options.timings;
    this.#silence = setInterval(() => {
      if (performance.now() - this.#heardAtMs >= silenceMs) void this.confirm();
    }, silenceMs / 10).unref();
  }

  get isReachable(): boolean {
    return this.#isReachable;
  }

  /** Milliseconds since the last sign of life. */
  get silentMs(): number {
    return performance.now() - this.#heardAtMs;
  }

  /** A sign of life. */
  heard(): void {
    this.#heardAtMs = performance.now();
  }

  /** Calls back when nobody answers any more: what still waits for an answer waits in vain. */
  onLost(listener: () => void): () => void {
    this.#lostListeners.add(listener);
    return () => this.#lostListeners.delete(listener);
  }

  /** Resolves once the API server has answered a question asked from now on, this is closed or the signal aborted. */
  async confirm(signal?: AbortSignal): Promise<void> {
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
    });
    if (signal === undefined) return this.#asking;
    if (signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const giveUp = () => resolve();
    signal.addEventListener("abort", giveUp, { once: true });
    await Promise.race([this.#asking, promise]);
    signal.removeEventListener("abort", giveUp);
  }

  close(): void {
    clearInterval(this.#silence);
    this.#stop.abort();
  }

  /**
   * A question that hangs holds up none of the next: where packets were lost it may wait long after the network is back,
   * and where the server is slow the next would not be answered sooner.
   */
  async #ask(): Promise<void> {
    const beganAtMs = performance.now();
    const ended = new AbortController();
    const onStop = () => ended.abort();
    this.#stop.signal.addEventListener("abort", onStop, { once: true });
    if (this.#stop.signal.aborted) ended.abort();
    while (!ended.signal.aborted) {
      // Also between two questions asked for different reasons: callers may fail in a fast loop.
      const everyMs = this.#options.timings.probeEveryMs * (1 + this.#random() / 2);
      await pause(Math.max(0, this.#askedAtMs + everyMs - performance.now()), ended.signal);
      if (ended.signal.aborted) break;
      this.#askedAtMs = performance.now();
      void this.#isThere(beganAtMs, ended.signal).then((isThere) => {
        if (ended.signal.aborted) return;
        if (isThere) {
          this.heard();
          ended.abort();
        }
        this.#note(isThere);
      });
    }
    this.#stop.signal.removeEventListener("abort", onStop);
  }

  async #isThere(beganAtMs: number, signal: AbortSignal): Promise<boolean> {
    try {
      await this.#options.probe(signal);
      return true;
    } catch (error) {
      if (signal.aborted || isUnreachable(error)) return false;
      // Refused: it is there.
      const isStarting = error instanceof ApiError && (error.status ?? 0) >= 500;
      return performance.now() - beganAtMs >= (isStarting ? notReadyMaxMs : refusedMaxMs);
    }
  }

  #note(isReachable: boolean): void {
    if (this.#isReachable === isReachable) return;
    this.#isReachable = isReachable;
    this.#options.onChange(isReachable);
    if (!isReachable) for (const listener of [...this.#lostListeners]) listener();
  }
}
