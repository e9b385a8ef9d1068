/**
 * Opens the store of responses: on disk in the data folder, which the proxies of one machine share, or in memory where
 * there is no folder to write to.
 *
 * A proxy of a fleet keeps only the responses it served itself until the fleet shares a store: elsewhere its clients
 * learn that an earlier response is not found.
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
