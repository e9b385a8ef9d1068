/**
 * Gathers last use and counts by key for the operator's status, between two reports. Bounded: of more keys than a report
 * holds the rest is counted by nobody, as reports may be lost anyway; nothing that is billed depends on them.
 */
import type { KeyReport, Report } from "../snapshot/push/messages.ts";

/** As many as the operator reads in one report. */
const keysMax = 10_000;

interface Use {
  lastUsedAt: number;
  requests: number;
}

export class UsageReport {
  readonly #uses = new Map<string, Use>();

  /**
   * Counts one request of a key.
   *
   * @param key `namespace/name`
   * @param at wall clock, milliseconds since the epoch
   */
  note(key: string, at: number): void {
    const use = this.#uses.get(key);
    if (use !== undefined) {
      use.lastUsedAt = Math.max(use.lastUsedAt, at);
      use.requests += 1;
    } else if (this.#uses.size < keysMax) {
      this.#uses.set(key, { lastUsedAt: at, requests: 1 });
    }
  }

  /** @returns what was gathered since the last call, and begins anew; undefined when there was nothing. */
  report(): Report | undefined {
    if (this.#uses.size === 0) return undefined;
    const keys = [...this.#uses].map(([key, { lastUsedAt, requests }]): KeyReport => ({ key, lastUsedAt, requests }));
    this.#uses.clear();
    return { type: "report", keys, ejected: [] };
  }
}
