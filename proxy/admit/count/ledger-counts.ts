/** Describes the numbers that a ledger reports to metrics and tests. */

/** What happened since the start; read by metrics at scrape. */
export interface LedgerCounts {
  reserved: number;
  refused: number;
  settled: number;
  repeated: number;
  late: number;
  unknown: number;
  /** Open reservations released because nobody settled them; restored ones included. */
  expired: number;
  /** Expired ones that are held again, since their calls go on: they end a second time. */
  resumed: number;
  /** Reservations that a shared store had lost, and whose use was counted from what their proxy knew. */
  forgotten: number;
  /** Counters of a shared store that something else has made unreadable: how often one was passed over. */
  broken: number;
  /** Settlements above their reservation in any unit, and how much cost lay above. */
  overshot: number;
  overshotNanos: bigint;
  /** Refusals that a limit in Shadow mode would have made. */
  shadowRefused: number;
}

export function zeroCounts(): LedgerCounts {
  return {
    reserved: 0,
    refused: 0,
    settled: 0,
    repeated: 0,
    late: 0,
    unknown: 0,
    expired: 0,
    resumed: 0,
    forgotten: 0,
    broken: 0,
    overshot: 0,
    overshotNanos: 0n,
    shadowRefused: 0,
  };
}
