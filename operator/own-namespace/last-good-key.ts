/**
 * The key of the proxies' last good files: a Secret that is made once and never overwritten, as the files of proxies
 * that are about to restart are written with it (`OPERATIONS.md` section 1 rule 8).
 */
import { randomBytes } from "node:crypto";
import { systemTimers, type Timers } from "../../proxy/snapshot/push/timers.ts";
import { checkLoop } from "../certificates/check-loop.ts";
import type { OwnedData } from "../certificates/owned-data.ts";

/** A Secret that somebody deleted is made again; proxies then begin new files. */
const checkEveryMs = 5 * 60_000;

/** @returns a function that ends the keeping */
export function keepLastGoodKey(
  secret: OwnedData,
  log: { info(message: string): void; error(message: string, fields?: Readonly<Record<string, unknown>>): void },
  timers: Timers = systemTimers,
): () => void {
  const loop = checkLoop({
    everyMs: checkEveryMs,
    timers,
    async check() {
      // Whoever installed the operator may have made it empty.
      const held = await secret.read();
      if (held?.data["key"] !== undefined) return;
      // False: another operator made it.
      if (await secret.write({ key: randomBytes(32).toString("base64") }, held?.version)) {
        log.info("the key of the proxies' last good files was made");
      }
    },
    onFailure: (cause) => log.error("the key of the proxies' last good files cannot be made", { cause }),
  });
  void loop.start();
  return () => loop.close();
}
