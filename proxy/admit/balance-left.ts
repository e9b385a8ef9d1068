/**
 * Computes how much the balances of a caller still afford, for calls whose output the gateway caps
 * (docs/design/limits-and-money.md 4).
 */
import type { BalanceClaim, CounterReading, Ledger } from "./ledger.ts";

/**
 * @returns nano-credits that neither are spent nor held for other calls, of the scarcest balance; negative after an
 *   overshoot, undefined when no balance bounds the caller, or the store cannot tell: reserving then decides by policy
 */
export async function balanceLeft(
  balances: readonly BalanceClaim[],
  ledger: Pick<Ledger, "read">,
): Promise<bigint | undefined> {
  let least: bigint | undefined;
  for (const { counter, grantedNanos } of balances) {
    if (grantedNanos === undefined) continue;
    const reading = await readOrNothing(ledger, counter);
    if (reading === "unreadable") return undefined;
    const left = reading === undefined ? grantedNanos : grantedNanos - reading.posted - reading.pending;
    if (least === undefined || left < least) least = left;
  }
  return least;
}

async function readOrNothing(
  ledger: Pick<Ledger, "read">,
  counter: string,
): Promise<CounterReading | undefined | "unreadable"> {
  try {
    return await ledger.read(counter);
  } catch {
    return "unreadable";
  }
}
