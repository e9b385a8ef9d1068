/**
 * The store of responses: on disk in the data folder, which the proxies of one machine share; in memory where there is
 * none to write to.
 *
 * A proxy of a fleet keeps only what it served itself until the fleet shares a store: its clients learn that an earlier
 * response is not found where another proxy made it.
 */
import { join } from "node:path";
import type { Logger } from "#proxy/observe/logger";
import type { ProxySettings } from "#proxy/settings";
import { memoryStoreLimits, type ResponseStore } from "./response-store.ts";
import { EmbeddedResponses } from "./store/embedded-responses.ts";
import { MemoryResponses } from "./store/memory-responses.ts";

export async function openResponses(
  settings: Pick<ProxySettings, "dataFolder">,
  log: Pick<Logger, "warn">,
): Promise<ResponseStore> {
  try {
    return await EmbeddedResponses.open({
      folder: join(settings.dataFolder, "responses"),
      now: Date.now,
      onProblem: (message) => log.warn("a response could not be kept", { problem: message }),
    });
  } catch (error) {
    log.warn("responses are kept in memory: the data folder cannot be written", {
      cause: error instanceof Error ? error : undefined,
    });
    return new MemoryResponses({ limits: memoryStoreLimits, now: Date.now });
  }
}
