/**
 * Sends an Event before a key ends, so that people act before callers get 401: once for each end of each key while this
 * operator leads. Time passes without any change of an object, so all keys are checked now and then, a few at a time.
 */
import { setImmediate as giveWay } from "node:timers/promises";
import type { KeyResult, ObjectResult } from "#operator/compile/result";
import { type EventFacts, keyExpiring } from "./events-of.ts";

export interface ExpiryNoticesOptions {
  readonly results: () => ReadonlyMap<string, ObjectResult>;
  readonly tell: (key: KeyResult, facts: EventFacts) => void;
  readonly isLeader: () => boolean;
  readonly now?: () => number;
  readonly everyMs?: number;
}

/** The same time as in the metric and the alert. */
const soonMs = 7 * 24 * 3_600_000;
const sliceOf = 2_000;

export class ExpiryNotices {
  readonly #options: ExpiryNoticesOptions;
  readonly #now: () => number;
  /** The end of each key that has its Event. */
  readonly #told = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;
  #isClosed = false;

  constructor(options: ExpiryNoticesOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#timer = setInterval(() => void this.reconcileAll(), options.everyMs ?? 10 * 60_000).unref();
  }

  /** A key was compiled; undefined: it is gone. */
  reconcile(id: string, result: ObjectResult | undefined): void {
    const endMs = result?.kind === "ApiKey" ? endOf(result) : undefined;
    if (result?.kind !== "ApiKey" || endMs === undefined) {
      this.#told.delete(id);
      return;
    }
    const leftMs = endMs - this.#now();
    if (leftMs <= 0 || leftMs > soonMs || this.#told.get(id) === endMs || !this.#options.isLeader()) return;
    this.#told.set(id, endMs);
    const when = new Date(endMs).toISOString().replace(/\.\d+Z$/, "Z");
    const note = `The key ends at ${when}: calls get 401 from then on. ${adviceOf(result, endMs)}`;
    this.#options.tell(result, keyExpiring(note));
  }

  async reconcileAll(): Promise<void> {
    let left = sliceOf;
    for (const [id, result] of this.#options.results()) {
      if (this.#isClosed || !this.#options.isLeader()) return;
      this.reconcile(id, result);
      left -= 1;
      if (left > 0) continue;
      left = sliceOf;
      await giveWay();
    }
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
  }
}

/** Advice to prolong the key: another credential does not help against `spec.expiresAt`. */
function adviceOf({ expiresAtMs, credentials }: KeyResult, endMs: number): string {
  if (expiresAtMs !== endMs) return "Add a credential that lives longer, or move its notAfter.";
  const livesOn = credentials.some(({ usable, notAfterMs = Infinity }) => usable && notAfterMs > endMs);
  return livesOn
    ? "Move spec.expiresAt; no credential outlives it."
    : "Move spec.expiresAt, and add a credential that lives longer.";
}

/** Milliseconds since the epoch; undefined for a key that does not end, or serves nobody anyway. */
function endOf({ state, wireIds, expiresAtMs = Infinity, credentials }: KeyResult): number | undefined {
  if (state !== "Active" || wireIds.length === 0) return undefined;
  const lives = credentials.filter(({ usable }) => usable).map(({ notAfterMs = Infinity }) => notAfterMs);
  const endMs = Math.min(expiresAtMs, lives.length === 0 ? Infinity : Math.max(...lives));
  return Number.isFinite(endMs) ? endMs : undefined;
}
