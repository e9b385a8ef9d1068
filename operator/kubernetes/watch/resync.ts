/**
 * Resyncs: lists everything beside the watch from time to time and applies the differences.
 *
 * A difference is an event that never came (docs/design/operations.md 1.2) or a past that a restore undid. An API
 * server that was away may have come back with a backup, and no event tells of it when its versions have passed ours;
 * the next resync then comes soon instead of after half an hour.
 */
import { ApiError } from "#operator/kubernetes/api/api-error";
import { pause } from "./backoff.ts";
import type { ListWatchOptions } from "./list-watch-options.ts";
import { type PagesOptions, readPages } from "./read-pages.ts";

export interface ResyncOptions
  extends PagesOptions,
    Pick<ListWatchOptions, "sink" | "counters" | "reachability" | "onFailure"> {
  /** Whether the watch has its first list; until then nothing is compared. */
  readonly isListed: () => boolean;
}

export class Resync {
  readonly #options: ResyncOptions;
  #timer: NodeJS.Timeout | undefined;
  /** The list that is being compared; aborted when a new one is needed anyway. */
  #running: AbortController | undefined;
  /** The server was away since everything was last listed. */
  #isDueSoon = false;
  #isClosed = false;

  constructor(options: ResyncOptions) {
    this.#options = options;
  }

  start(): void {
    this.#schedule();
  }

  /** The server is unreachable: resyncs soon, and again until a whole list was read. */
  resyncSoon(): void {
    this.#isDueSoon = true;
    // The pages read so far are from before.
    this.abort();
    this.#schedule();
  }

  /** The watch itself has listed everything anew. */
  noteListed(): void {
    if (!this.#isDueSoon) return;
    this.#isDueSoon = false;
    this.#schedule();
  }

  /** Aborts the running resync. */
  abort(): void {
    this.#running?.abort();
  }

  close(): void {
    this.#isClosed = true;
    this.abort();
    clearTimeout(this.#timer);
  }

  #schedule(): void {
    if (this.#isClosed) return;
    const { compareEveryMs, compareAfterAwayMs } = this.#options.timings;
    // Not all kinds at once.
    const delayMs = (this.#isDueSoon ? compareAfterAwayMs : compareEveryMs) * (0.75 + Math.random() / 2);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      void this.#compare().finally(() => this.#schedule());
    }, delayMs).unref();
  }

  /** A difference that lasts is an event that never came. */
  async #compare(): Promise<void> {
    const { sink, timings, counters, reachability, onFailure, isListed } = this.#options;
    // While the server is unreachable, only `Reachability` calls it.
    if (this.#running !== undefined || !reachability.isReachable || !isListed()) return;
    const collector = sink.beginList();
    const running = new AbortController();
    this.#running = running;
    try {
      const version = await readPages(this.#options, collector, running.signal);
      if (collector.differences(version).length > 0) await pause(timings.compareGraceMs, running.signal);
      if (running.signal.aborted) return;
      this.#isDueSoon = false;
      const missed = collector.differences(version);
      counters.noteCompared(missed.length);
      if (missed.length === 0) return;
      onFailure(new Error(`The watch missed ${missed.length} changes.`), "it takes them from the list");
      collector.finish(version, false);
    } catch (error) {
      if (running.signal.aborted) return;
      if (error instanceof ApiError) counters.noteFailure(error);
      onFailure(error, "it resyncs later");
    } finally {
      collector.drop();
      this.#running = undefined;
    }
  }
}
