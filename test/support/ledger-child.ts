/**
 * A process that spends through an embedded ledger until it is killed. It prints each settlement with the time, so
 * that the parent knows what must not be forgotten. Arguments: data folder, prefix of its ids.
 */
import { writeSync } from "node:fs";
import { EmbeddedLedger } from "#proxy/admit/embedded-ledger";
import type { Limit } from "#proxy/snapshot/types.gen";

const [folder = "", prefix = ""] = process.argv.slice(2);
const limit: Limit = {
  name: "quota",
  unit: "Requests",
  limit: "1000000",
  period: "Lifetime",
  algorithm: "FixedWindow",
  mode: "Enforce",
};
const claims = {
  limits: [{ counter: "key/ns/a/quota", limit }],
  balances: [{ counter: "account/ns/a", grantedNanos: 10n ** 18n }],
  concurrency: [],
};
const amounts = { requests: 1n, inputTokens: 1n, outputTokens: 1n, costNanos: 3n };
const ledger = await EmbeddedLedger.open({ now: Date.now, reservationTtlMs: 60_000, folder });
writeSync(1, `start ${ledger.read("account/ns/a")?.posted ?? 0n} ${ledger.counts.expired}\n`);
let settled = 0;
setInterval(() => {
  for (let index = 0; index < 20; index += 1) {
    const id = `${prefix}-${settled}`;
    ledger.reserve({ id, amounts, ...claims });
    ledger.settle(id, amounts);
    settled += 1;
  }
  ledger.reserve({ id: `${prefix}-open-${settled}`, amounts, ...claims });
  writeSync(1, `${settled} ${performance.timeOrigin + performance.now()}\n`);
}, 1);
