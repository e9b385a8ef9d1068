import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EmbeddedLedger } from "#proxy/admit/embedded-ledger";
import { MemoryLedger } from "#proxy/admit/memory-ledger";
import { ttlMs } from "#test/support/ledger-commands";
import { describeLedger } from "#test/support/ledger-suite";

describeLedger({
  name: "in memory",
  histories: 1_000,
  open: async (clock) =>
    new MemoryLedger({ now: () => clock.nowMs, monotonicNow: () => clock.nowMs, reservationTtlMs: ttlMs }),
});

let folder = "";

describeLedger({
  name: "embedded, while it writes",
  histories: 300,
  open: (clock) => {
    folder = mkdtempSync(join(tmpdir(), "tollgate-ledger-"));
    const now = (): number => clock.nowMs;
    return EmbeddedLedger.open({ now, monotonicNow: now, reservationTtlMs: ttlMs, folder });
  },
  end: async () => rmSync(folder, { recursive: true, force: true }),
});
