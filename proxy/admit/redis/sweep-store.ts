/**
 * Marks in the shared store which counters belong to deleted objects: what counts without end (Lifetime, balances, calls
 * in flight) would stay for ever, and goes 30 days after its object (docs/design/limits-and-money.md 6).
 *
 * One proxy of all does it in each hour. It asks for a page of names at a time, and nobody waits for it.
 */
import { counterRetentionMs } from "#proxy/admit/memory-ledger";
import { readWord } from "./script-answers.ts";
import { beginSweepCommand, sweepCommand } from "./script-arguments.ts";
import type { SharedStore } from "./shared-store.ts";

/**
 * @param isLive whether the object of a counter exists now
 * @returns how many counters were looked at. Rejects where the store does not answer: the next hour begins anew
 */
export async function sweepStore(
  store: Pick<SharedStore, "submit" | "scanCounters">,
  isLive: (counter: string) => boolean,
): Promise<number> {
  if (readWord((await store.submit(beginSweepCommand)).answer) !== "begun") return 0;
  let count = 0;
  let cursor = "0";
  do {
    const page = await store.scanCounters(cursor);
    if (page.counters.length > 0) {
      const { answer } = await store.submit(sweepCommand(page.counters, isLive, counterRetentionMs));
      readWord(answer);
    }
    count += page.counters.length;
    cursor = page.cursor;
  } while (cursor !== "0");
  return count;
}
