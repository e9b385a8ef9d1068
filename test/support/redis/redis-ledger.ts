/** Opens the shared ledger on a real store for tests, by a clock that the test moves. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ledgerScript } from "#proxy/admit/redis/ledger-script";
import { RedisLedger, type RedisLedgerOptions } from "#proxy/admit/redis/redis-ledger";
import { ttlMs } from "#test/support/ledger-commands";
import type { RedisServer } from "./redis-server.ts";

const clockLine = `local time = redis.call("TIME")`;
if (!ledgerScript.includes(clockLine)) throw new Error("the script no longer asks for the time in this line");

/** The ledger's script, which reads the time in a key instead of the store's clock. */
export const scriptByKey = ledgerScript.replace(
  clockLine,
  `local set = redis.call("GET", prefix .. ":clock")
   local time = {math.floor(set / 1000), math.fmod(set, 1000) * 1000}`,
);

export interface LedgerOnStore {
  readonly ledger: RedisLedger;
  readonly folder: string;
  readonly close: () => Promise<void>;
}

/** On a store that may be new. */
export async function openRedisLedger(
  server: RedisServer,
  options: Partial<RedisLedgerOptions> = {},
): Promise<LedgerOnStore> {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), "tollgate-redis-ledger-"));
  const ledger = await RedisLedger.open({
    now: Date.now,
    reservationTtlMs: ttlMs,
    address: { url: server.url },
    prefix: "{tollgate}",
    name: "test",
    acceptEmpty: true,
    folder,
    ...options,
  });
  const close = async (): Promise<void> => {
    await ledger.close();
    if (options.folder === undefined) rmSync(folder, { recursive: true, force: true });
  };
  return { ledger, folder, close };
}
