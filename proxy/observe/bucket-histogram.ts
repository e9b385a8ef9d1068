/** Counts a histogram in nanoseconds: plain counters by bucket, summed up only when scraped. */

/** Upper bounds in seconds for whole requests and first tokens: from a cached reply to one of ten minutes. */
export const requestSecondsBounds = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600] as const;
/** Upper bounds in seconds between tokens: 1,000 to 1 a second. */
export const tokenSecondsBounds = [0.001, 0.0025, 0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.25, 0.5, 1] as const;
/** Upper bounds in seconds of the gateway's own work and of ledger decisions. */
export const overheadSecondsBounds = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1,
] as const;

export class BucketHistogram {
  /** Upper bounds in seconds, ascending. */
  readonly bounds: readonly number[];
  readonly #boundsMs: Float64Array;
  readonly #counts: Float64Array;
  #sumMs = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.#boundsMs = Float64Array.from(bounds, (seconds) => seconds * 1000);
    this.#counts = new Float64Array(bounds.length + 1);
  }

  /** @param valueMs a duration; not a number or below zero is not counted, so that callers need not ask */
  observe(valueMs: number): void {
    if (!(valueMs >= 0)) return;
    const bounds = this.#boundsMs;
    let bucket = 0;
    while (bucket < bounds.length && valueMs > (bounds[bucket] ?? Number.POSITIVE_INFINITY)) bucket += 1;
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#sumMs += valueMs;
  }

  /** Observations in all buckets. */
  get count(): number {
    let total = 0;
    for (const count of this.#counts) total += count;
    return total;
  }

  /** Sum of all observations in seconds. */
  get sumSeconds(): number {
    return this.#sumMs / 1000;
  }

  /** Observations at or below each bound, then all of them: what Prometheus wants. */
  cumulative(): number[] {
    let total = 0;
    return Array.from(this.#counts, (count) => {
      total += count;
      return total;
    });
  }
}
