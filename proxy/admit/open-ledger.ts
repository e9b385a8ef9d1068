/** Opens the ledger that the settings name, and reports its state to the log and its shadow refusals to the metrics. */
import { join } from "node:path";
import type { Logger } from "#proxy/observe/logger";
import type { ProxyMetrics } from "#proxy/observe/metrics";
import type { ProxySettings } from "#proxy/settings";
import type { OpenLedger } from "./ledger.ts";
import { epochPath } from "./redis/epoch-file.ts";
import { stores } from "./stores.ts";

/** Where a proxy of this data folder keeps the epoch of its shared store; absent before it first counted in one. */
export function sharedEpochPath(dataFolder: string): string {
  return epochPath(ledgerFolder(dataFolder));
}

function ledgerFolder(dataFolder: string): string {
  return join(dataFolder, "ledger");
}

/** @throws Error when another process counts in the same data folder, or the folder or the store cannot be used */
export async function openLedger(
  settings: Pick<ProxySettings, "dataFolder" | "limits" | "name" | "quota">,
  log: Logger,
  metrics: Pick<ProxyMetrics, "quotaDecision">,
): Promise<OpenLedger> {
  const { acceptEmpty, failureMode, store, redis } = settings.quota;
  const { reservationTtlMs } = settings.limits;
  const onShadowRefusal = (): void => metrics.quotaDecision("shadow");
  const folder = ledgerFolder(settings.dataFolder);
  const ledger = await stores[store].open({
    now: Date.now,
    reservationTtlMs,
    onShadowRefusal,
    folder,
    acceptEmpty,
    failureMode,
    name: settings.name,
    redis,
    onProblem: (message) => log.warn(`the ledger: ${message}`),
    onStoreState: ({ kind, message }) => {
      if (kind === "writing") log.info("the ledger writes to its store again", { folder });
      else if (kind === "usable") log.info("the ledger counts in its shared store", { url: redis?.url });
      else log.error(`the ledger's store is ${kind}: ${message}`, { folder, failureMode });
    },
  });
  const { expired } = ledger.counts;
  if (expired > 0) log.warn("released the reservations of a former process", { reservations: expired });
  return ledger;
}
