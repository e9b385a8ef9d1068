/** How long the watching of the API server waits for what (`OPERATIONS.md` section 3); tests shorten it. */

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
  /** Between two full lists that are compared with what is held. */
  readonly compareEveryMs: number;
  /** The same after the API server was away. */
  readonly compareAfterAwayMs: number;
  /** What a compared list shows otherwise must still be so after this time, in which the watch catches up. */
  readonly compareGraceMs: number;
  /** No sign of life from the API server for this long: it is asked whether it is there. */
  readonly silenceMs: number;
  /** How long it may take to answer that. */
  readonly probeTimeoutMs: number;
  /** Between two such questions while it is away. */
  readonly probeEveryMs: number;
  /** Objects a page of a list. */
  readonly pageSize: number;
  /** How long a change may wait for the Secrets that it names first. */
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
  // Together under 45 s: that long an API server may be hung before somebody notices (RELIABILITY.md J2).
  silenceMs: 25_000,
  probeTimeoutMs: 10_000,
  probeEveryMs: 1_000,
  pageSize: 500,
  holdBackMs: 500,
};
