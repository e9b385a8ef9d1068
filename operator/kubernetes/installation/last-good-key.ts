/**
 * Keeps the key of the proxies' last good files: a Secret that is made once and never overwritten, because proxies that
 * are about to restart have written their files with it (docs/design/configuration.md 3.8). When the Secret is deleted,
 * an operator that has read it writes it back.
 */
import { randomBytes } from "node:crypto";
import { checkLoop } from "#operator/certificates/check-loop";
import type { OwnedData } from "#operator/certificates/owned-data";
import { systemTimers, type Timers } from "#proxy/snapshot/push/timers";

/** Time between two checks; a proxy that restarts meanwhile without the key has no file. */
const checkEveryMs = 5 * 60_000;

/** @returns a function that stops it */
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
      // An installer may create the Secret empty, and emptying it asks for another key.
      const kept = held === undefined ? seen : undefined;
      const key = kept ?? randomBytes(32).toString("base64");
      // False: another operator made it, and the next check reads it.
      if (!(await secret.write({ key }, held?.version))) return;
      seen = key;
      log.info(`the operator ${kept === undefined ? "made" : "wrote back"} the key of the proxies' last good files`);
    },
    onFailure: (cause) => log.error("the operator cannot make the key of the proxies' last good files", { cause }),
  });
  void loop.start();
  return () => loop.close();
}
