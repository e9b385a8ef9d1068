/** Opens the ledger that the settings name. */
import type { Logger } from "../observe/logger.ts";
import type { ProxyMetrics } from "../observe/metrics.ts";
import type { ProxySettings } from "../settings.ts";
import { EmbeddedLedger } from "./embedded-ledger.ts";
import type { Ledger } from "./ledger.ts";
import { MemoryLedger } from "./memory-ledger.ts";

/** @throws Error when the embedded store is in use by another process or cannot be opened */
export async function openLedger(settings: ProxySettings, log: Logger, metrics: ProxyMetrics): Promise<Ledger> {
  const common = {
    now: Date.now,
    reservationTtlMs: settings.limits.reservationTtlMs,
    onShadowRefusal: () => metrics.quotaDecision("shadow"),
  };
  if (settings.quota.store === "Memory") return new MemoryLedger(common);
  return EmbeddedLedger.open({
    ...common,
    folder: settings.dataFolder,
    acceptEmpty: settings.quota.acceptEmpty,
    failureMode: settings.quota.failureMode === "Open" ? "Open" : "Closed",
    onStoreState: (state) => {
      if (state.kind === "writing") log.info("the ledger's store can be written again");
      else
        log.error("the ledger's store is unavailable: quotas and balances are closed", {
          state: state.kind,
          reason: state.message,
        });
    },
  });
}
