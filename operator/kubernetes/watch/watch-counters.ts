/** Counters of one list-watch, as plain numbers that a scrape reads. */
import type { ApiError } from "#operator/kubernetes/api/api-error";

/** Why everything was listed. */
export type RelistReason = "first" | "expired" | "error" | "unreadable" | "silent" | "rewound" | AskedFor | "failure";
/** Nothing failed: a caller needs a newer list now. */
export type AskedFor = "wanted" | "behind";

export class WatchCounters {
  readonly events = new Map<string, number>();
  readonly relists = new Map<RelistReason, number>();
  readonly failures = new Map<string, number>();
  bytes = 0;
  /** Full lists that were compared with the objects held. */
  comparisons = 0;
  /** Objects that differed then. Must stay 0. */
  differences = 0;
  #lastEventAtMs: number | undefined;

  /** Milliseconds since the last event, bookmarks counted; undefined before the first. */
  get lastEventAgeMs(): number | undefined {
    return this.#lastEventAtMs === undefined ? undefined : performance.now() - this.#lastEventAtMs;
  }

  noteEvent(type: string): void {
    this.#lastEventAtMs = performance.now();
    this.events.set(type, (this.events.get(type) ?? 0) + 1);
  }

  noteRelist(reason: RelistReason): void {
    this.#lastEventAtMs = performance.now();
    this.relists.set(reason, (this.relists.get(reason) ?? 0) + 1);
  }

  noteFailure({ code, status }: ApiError): void {
    const label = status === undefined ? code : String(status);
    this.failures.set(label, (this.failures.get(label) ?? 0) + 1);
  }

  noteBytes(count: number): void {
    this.bytes += count;
  }

  noteCompared(differences: number): void {
    this.comparisons += 1;
    this.differences += differences;
  }
}
