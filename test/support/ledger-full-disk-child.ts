/**
 * A process that spends through an embedded ledger and prints what becomes of it, one JSON line each 20 ms. Its parent
 * bounds the size of its files and lifts the bound again. Argument: data folder.
 */
import { writeSync } from "node:fs";
import { EmbeddedLedger } from "#proxy/admit/embedded-ledger";
import type { Limit } from "#proxy/snapshot/types.gen";

const [folder = ""] = process.argv.slice(2);
const limitOf = (name: string, period: Limit["period"]): Limit => ({
  name,
  unit: "Requests",
  limit: "1000000",
  period,
  algorithm: "FixedWindow",
  mode: "Enforce",
});
const quota = limitOf("quota", "Lifetime");
const rate = limitOf("rate", "Second");
const amounts = { requests: 1n, inputTokens: 0n, outputTokens: 0n, costNanos: 1n };
const ledger = await EmbeddedLedger.open({ now: Date.now, reservationTtlMs: 60_000, folder });
let asked = 0;
let rates = 0;
setInterval(() => {
  for (let index = 0; index < 200; index += 1) {
    const id = `r${asked++}`;
    const limits = [{ counter: `key/ns/k${asked % 5_000}/quota`, limit: quota }];
    const result = ledger.reserve({
      id,
      amounts,
      limits,
      balances: [{ counter: "account/ns/a", grantedNanos: 10n ** 18n }],
      concurrency: [],
    });
    if (result.kind === "reserved") ledger.settle(id, amounts);
  }
  const id = `rate${asked}`;
  const local = ledger.reserve({
    id,
    amounts,
    limits: [{ counter: "key/ns/a/rate", limit: rate }],
    balances: [],
    concurrency: [],
  });
  if (local.kind === "reserved") rates += 1;
  const posted = String(ledger.read("account/ns/a")?.posted ?? 0n);
  writeSync(1, `${JSON.stringify({ state: ledger.storeState.kind, posted, rates })}\n`);
}, 20);
process.once("SIGTERM", () => void ledger.close().then(() => process.exit(0)));
