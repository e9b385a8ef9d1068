/**
 * The key of the proxies' last good files: a Secret that is made once and never overwritten, as the files of proxies
 * that are about to restart are written with it (`OPERATIONS.md` section 1 rule 8). One that was taken away is written
 * back by whoever has seen it.
 */
import { randomBytes } from "node:crypto";
import { checkLoop } from "#operator/certificates/check-loop";
import type { OwnedData } from "#operator/certificates/owned-data";
import { systemTimers, type Timers } from "#proxy/snapshot/push/timers";

/** Until then a proxy that restarts without it has no file. */
const checkEveryMs = 5 * 60_000;

/** @returns a function that ends the keeping */
export function keepLastGoodKey(
  secret: OwnedData,
  log: { info(message: string): void; error(message: string, fields?: Readonly<Record<string, unknown>>): void },
  timers: Timers = systemTimers,
): () => void {
  let seen: string | undefined;
  const loop = checkLoop({
    everyMs: checkEveryMs,
    timers,
    async check() {
      const held = await secret.read();
      const present = held?.data["key"];
      if (present !== undefined) {
        seen = present;
        return;
      }
      // Whoever installed the operator may have made it empty, and whoever wants another key may empty it.
      const kept = held === undefined ? seen : undefined;
      const key = kept ?? randomBytes(32).toString("base64");
      // False: another operator made it, which the next look shows.
      if (!(await secret.write({ key }, held?.version))) return;
      seen = key;
      log.info(`the key of the proxies' last good files was ${kept === undefined ? "made" : "written back"}`);
    },
    onFailure: (cause) => log.error("the key of the proxies' last good files cannot be made", { cause }),
  });
  void loop.start();
  return () => loop.close();
}
