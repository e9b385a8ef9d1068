/** The waits and bounds of watching the API server (docs/design/operations.md 1.1). Tests shorten them. */

export interface WatchTimings {
  /** The server ends a watch after a random time between these, so that none lives for ever. */
  readonly serverTimeoutMinMs: number;
  readonly serverTimeoutMaxMs: number;
  /**
   * How often a quiet watch brings a bookmark at least. The API server's own pace is a minute, but it leaves one out
   * where its store has not moved: measured two minutes where nothing happens at all.
   */
  readonly bookmarkEveryMs: number;
  /** Silence beyond that, after which a watch counts as dead and everything is listed again. */
  readonly idleMs: number;
  /** Wait after a failure: doubled each time from the least to the most, the real one random between half and whole. */
  readonly backoffMinMs: number;
  readonly backoffMaxMs: number;
  /** Between two resyncs. */
  readonly compareEveryMs: number;
  /** The same after the API server was away. */
  readonly compareAfterAwayMs: number;
  /** A difference must last this long, in which the watch may catch up. */
  readonly compareGraceMs: number;
  /** Silence of the API server after which it is probed. */
  readonly silenceMs: number;
  /** How long a probe may take. */
  readonly probeTimeoutMs: number;
  /** Between two probes while it is unreachable. */
  readonly probeEveryMs: number;
  /** Objects a page of a list. */
  readonly pageSize: number;
  /** How long a change may wait for Secrets that it names for the first time. */
  readonly holdBackMs: number;
}

export const defaultWatchTimings: WatchTimings = {
  serverTimeoutMinMs: 5 * 60_000,
  serverTimeoutMaxMs: 10 * 60_000,
  bookmarkEveryMs: 120_000,
  idleMs: 45_000,
  backoffMinMs: 500,
  backoffMaxMs: 30_000,
  compareEveryMs: 30 * 60_000,
  compareAfterAwayMs: 10_000,
  compareGraceMs: 5_000,
  // Together under 45 s: that long an API server may be hung before somebody notices (docs/design/reliability.md J2).
  silenceMs: 25_000,
  probeTimeoutMs: 10_000,
  probeEveryMs: 1_000,
  pageSize: 500,
  holdBackMs: 500,
};
