/**
 * Computes how much the balances of a caller still afford, for calls whose output the gateway caps
 * (docs/design/limits-and-money.md 4).
 */
import type { BalanceClaim, Ledger } from "./ledger.ts";

/**
 * @returns nano-credits that neither are spent nor held for other calls, of the scarcest balance; negative after an
 *   overshoot, undefined when no balance bounds the caller
 */
export async function balanceLeft(
  balances: readonly BalanceClaim[],
  ledger: Pick<Ledger, "read">,
): Promise<bigint | undefined> {
  let least: bigint | undefined;
  for (const { counter, grantedNanos } of balances) {
    if (grantedNanos === undefined) continue;
    const reading = await ledger.read(counter);
    const left = reading === undefined ? grantedNanos : grantedNanos - reading.posted - reading.pending;
    if (least === undefined || left < least) least = left;
  }
  return least;
}
