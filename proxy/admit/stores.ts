/**
 * Lists the stores that can keep the counters: how each is opened, and what it can hold. `quota.store` of
 * `cli/settings.schema.json` names the same ones; a test compares both.
 */
import type { QuotaStore } from "#proxy/settings";
import { EmbeddedLedger, type EmbeddedLedgerOptions } from "./embedded-ledger.ts";
import type { OpenLedger } from "./ledger.ts";
import { MemoryLedger } from "./memory-ledger.ts";

export interface Store {
  /** @throws Error when another process counts in the same folder, or the folder cannot be used */
  readonly open: (options: EmbeddedLedgerOptions) => Promise<OpenLedger>;
  /** Counters outlive the process. */
  readonly isDurable: boolean;
  /** Several proxies count as one. */
  readonly isShared: boolean;
}

export const stores: Readonly<Record<QuotaStore, Store>> = {
  Embedded: { open: (options) => EmbeddedLedger.open(options), isDurable: true, isShared: false },
  Memory: {
    open: (options) => Promise.resolve(new MemoryLedger(options)),
    isDurable: false,
    isShared: false,
  },
};

export function isQuotaStore(name: string): name is QuotaStore {
  return Object.hasOwn(stores, name);
}
