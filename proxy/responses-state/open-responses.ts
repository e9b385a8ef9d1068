/**
 * The store of responses that the settings ask for: on disk beside the embedded ledger, else in memory.
 *
 * A proxy of a fleet keeps only what it served itself until the fleet shares a store: its clients learn that an earlier
 * response is not found where another proxy made it.
 */
import { join } from "node:path";
import type { Logger } from "../observe/logger.ts";
import type { ProxySettings } from "../settings.ts";
import { memoryStoreLimits, type ResponseStore } from "./response-store.ts";
import { EmbeddedResponses } from "./store/embedded-responses.ts";
import { MemoryResponses } from "./store/memory-responses.ts";

/** @throws Error when the data folder cannot be used */
export function openResponses(
  settings: Pick<ProxySettings, "dataFolder" | "quota">,
  log: Pick<Logger, "warn">,
): Promise<ResponseStore> {
  if (settings.quota.store === "Memory") {
    return Promise.resolve(new MemoryResponses({ limits: memoryStoreLimits, now: Date.now }));
  }
  return EmbeddedResponses.open({
    folder: join(settings.dataFolder, "responses"),
    now: Date.now,
    onProblem: (message) => log.warn("a response could not be kept", { problem: message }),
  });
}
