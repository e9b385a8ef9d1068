/** Names what a ledger tells whoever makes its counters durable. */
import type { BalanceCounter, LimitCounter, StoredIdentity } from "./limit-counter.ts";

/** Collects what must become durable; `MemoryLedger` alone has none. */
export interface LedgerJournal {
  limitChanged(counter: LimitCounter): void;
  balanceChanged(counter: BalanceCounter): void;
  /** The number of open reservations changed. */
  openChanged(): void;
  forgotten(counter: { stored: StoredIdentity | undefined }): void;
}
