/** Says what the metrics show of the ledger, and of the store that it shares with others where it has one. */
import type { Reading } from "./collected-metrics.ts";

/** State of the ledger, read at scrape: what is admitted is settled once or expires (docs/design/reliability.md P3). */
export interface LedgerReading {
  /** Reservations held now. */
  readonly openCount: number;
  readonly counts: Readonly<Record<(typeof ledgerOutcomes)[number], number>>;
  /** Present where the counters are in a shared store. */
  readonly shared?: SharedStoreReading;
}

export interface SharedStoreReading {
  readonly isUsable: boolean;
  /** Settlements that the store has not confirmed. */
  readonly undelivered: number;
  /** Settlements that were given up, since the start. */
  readonly lost: number;
}

export const ledgerOutcomes = [
  "reserved",
  "refused",
  "settled",
  "repeated",
  "late",
  "unknown",
  "expired",
  "resumed",
  "forgotten",
  "broken",
  "overshot",
] as const;

/** A metric of the shared store; nothing where there is none. */
export function sharedReadings(
  ledger: LedgerReading | undefined,
  read: (store: SharedStoreReading) => number,
): Reading[] {
  return ledger?.shared === undefined ? [] : [{ labels: {}, value: read(ledger.shared) }];
}
