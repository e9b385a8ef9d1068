/**
 * Says whether the API server is reachable. One probe serves all watches, so that they do not all storm it.
 *
 * Any response or byte counts as a sign of life. After too long a silence, or when a call found no server, a small
 * probe is sent, and again about once a second until one succeeds; every watch waits for that instead of trying itself.
 * An API server that hangs keeps its sockets open, so this is how the operator notices it
 * (docs/design/reliability.md J2).
 */
import { ApiError, isUnreachable } from "#operator/kubernetes/api/api-error";
import { pause } from "./backoff.ts";
import type { WatchTimings } from "./timings.ts";

export interface ReachabilityOptions {
  /** Probes the API server; rejects with an `ApiError`. */
  readonly probe: (signal: AbortSignal) => Promise<void>;
  readonly timings: Pick<WatchTimings, "silenceMs" | "probeEveryMs">;
  /** Called when it becomes unreachable and when it is back. */
  readonly onChange: (isReachable: boolean) => void;
  readonly random?: () => number;
}

/** How long an API server that responds "not ready" is believed. */
const notReadyMaxMs = 30_000;
/** How long a 401 or 403 to the probe counts as starting: until it has read its rules, the server refuses everybody. */
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

  /** Calls back when the API server becomes unreachable: calls that wait for a response wait in vain. */
  onLost(listener: () => void): () => void {
    this.#lostListeners.add(listener);
    return () => this.#lostListeners.delete(listener);
  }

  /** Resolves once a probe sent from now on has succeeded, this is closed or the signal is aborted. */
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
   * A probe that hangs does not delay the next one: after lost packets it may hang long after the network is back, and
   * with a slow server the next one would not be faster.
   */
  async #ask(): Promise<void> {
    const beganAtMs = performance.now();
    const ended = new AbortController();
    const onStop = () => ended.abort();
    this.#stop.signal.addEventListener("abort", onStop, { once: true });
    if (this.#stop.signal.aborted) ended.abort();
    while (!ended.signal.aborted) {
      // Also between two probes for different reasons: callers may fail in a fast loop.
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
