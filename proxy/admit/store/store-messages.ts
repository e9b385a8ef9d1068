/** Defines the messages between the ledger and its store's thread. */

/** A counter's row on disk. */
export interface StoredCounter {
  readonly id: number;
  readonly kind: "limit" | "bucket" | "balance";
  readonly name: string;
  /** Unit of the limit; of a window its period and time zone behind it: `Tokens Month UTC`. Empty for balances. */
  readonly unit: string;
  /** Start of the window that `amount` counts, or time at which a bucket had this level. */
  readonly startMs: number;
  /** Posted sum, or a bucket's level without what open reservations hold of it. */
  readonly amount: bigint;
}

/** Changes of counters travel as triples of doubles: id, startMs, amount. */
export const changeLength = 3;

export interface StoreBatch {
  readonly type: "batch";
  /** Counts up by one from the first batch of a thread; 32 bits that wrap. */
  readonly sequence: number;
  /** Replaces all that is stored: the first batch after a failure. */
  readonly isWhole: boolean;
  /** May lie in shared memory (`batch-lane.ts`): valid until this batch is written. */
  readonly changes: Float64Array;
  /** Counters that are new, or whose amount is no exact double: whole rows. */
  readonly rows: readonly StoredCounter[];
  readonly forgotten: readonly number[];
  /** Reservations open when the batch was made: after a crash they are released and counted. */
  readonly openReservations: number;
}

export type StoreRequest = StoreBatch | { readonly type: "accept-empty" } | { readonly type: "close" };

export interface LedgerStoreStart {
  readonly folder: string;
  readonly acceptEmpty: boolean;
  /** Of the ledger's `BatchLane`. */
  readonly lane: SharedArrayBuffer;
}

export type StoreReply =
  /** Again where a deleted file was made anew: it waits for a whole batch. */
  | {
      readonly type: "opened";
      readonly counters: readonly StoredCounter[];
      /** Reservations that were open when the last process ended. */
      readonly openReservations: number;
    }
  /** The store does not hold what its epoch file says it should; `message` says what was found. */
  | { readonly type: "amnesia"; readonly message: string }
  /** Cannot start at all: another process has the file, or the folder cannot be written. */
  | { readonly type: "refused"; readonly message: string }
  /** A batch could not be written; none is taken until one with `isWhole`. */
  | { readonly type: "failed"; readonly message: string }
  | { readonly type: "recovered" }
  | { readonly type: "closed" };
