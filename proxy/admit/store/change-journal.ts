/**
 * Collects the changes that the next batch must make durable: each changed counter once, however often it changed.
 *
 * Only posted amounts are durable. The holds of open reservations end with the process, so they are left out: of a
 * window the posted sum is stored, of a bucket its level without the holds, of reservations how many are open.
 */

import type { LedgerJournal } from "#proxy/admit/count/ledger-journal";
import { BalanceCounter, type LimitCounter, type StoredIdentity } from "#proxy/admit/count/limit-counter";
import type { MemoryLedger } from "#proxy/admit/memory-ledger";
import { changeLength, type StoreBatch, type StoredCounter } from "./store-messages.ts";

type AnyCounter = LimitCounter | BalanceCounter;

export class ChangeJournal implements LedgerJournal {
  readonly #onFirstChange: () => void;
  #changed: AnyCounter[] = [];
  #forgotten: number[] = [];
  #lastId: number;
  #hasChanges = false;

  /**
   * @param lastId largest id of a counter on disk
   * @param onFirstChange called when there is something to write and there was nothing before
   */
  constructor(lastId: number, onFirstChange: () => void) {
    this.#lastId = lastId;
    this.#onFirstChange = onFirstChange;
  }

  get hasChanges(): boolean {
    return this.#hasChanges;
  }

  limitChanged(counter: LimitCounter): void {
    counter.isChanged = true;
    this.#changed.push(counter);
    if (!this.#hasChanges) this.#begin();
  }

  balanceChanged(counter: BalanceCounter): void {
    counter.isChanged = true;
    this.#changed.push(counter);
    if (!this.#hasChanges) this.#begin();
  }

  openChanged(): void {
    if (!this.#hasChanges) this.#begin();
  }

  forgotten(counter: { stored: StoredIdentity | undefined }): void {
    if (counter.stored === undefined) return;
    this.#forgotten.push(counter.stored.id);
    counter.stored = undefined;
    if (!this.#hasChanges) this.#begin();
  }

  /**
   * Everything gathered, and starts anew.
   *
   * @param room where the changes shall lie if they fit
   */
  drainBatch(sequence: number, openReservations: number, room: Float64Array): StoreBatch {
    const rows: StoredCounter[] = [];
    const length = this.#changed.length * changeLength;
    const changes = length <= room.length ? room : new Float64Array(length);
    let at = 0;
    for (const counter of this.#changed) {
      counter.isChanged = false;
      if (counter.isForgotten) continue;
      if (needsRow(counter)) {
        if (counter.stored !== undefined) this.#forgotten.push(counter.stored.id);
        counter.stored = undefined;
      }
      const narrow = narrowAmount(counter);
      if (counter.stored === undefined || narrow === undefined) rows.push(this.#rowOf(counter));
      else {
        changes[at++] = counter.stored.id;
        changes[at++] = startMsOf(counter);
        changes[at++] = narrow;
      }
    }
    const batch: StoreBatch = {
      type: "batch",
      sequence,
      isWhole: false,
      changes: changes.subarray(0, at),
      rows,
      forgotten: this.#forgotten,
      openReservations,
    };
    this.#clear();
    return batch;
  }

  /** All that the ledger holds, for a store that lost count; what was gathered is part of it. */
  drainWhole(sequence: number, ledger: MemoryLedger): StoreBatch {
    for (const counter of this.#changed) counter.isChanged = false;
    this.#clear();
    const rows: StoredCounter[] = [...ledger.unusedCounters()];
    for (const counter of ledger.counters()) {
      if (needsRow(counter)) counter.stored = undefined;
      rows.push(this.#rowOf(counter));
    }
    const { openCount: openReservations } = ledger;
    return {
      type: "batch",
      sequence,
      isWhole: true,
      changes: new Float64Array(0),
      rows,
      forgotten: [],
      openReservations,
    };
  }

  #begin(): void {
    this.#hasChanges = true;
    this.#onFirstChange();
  }

  #clear(): void {
    this.#changed = [];
    this.#forgotten = [];
    this.#hasChanges = false;
  }

  #rowOf(counter: AnyCounter): StoredCounter {
    counter.stored ??= this.#newIdentity(counter);
    const { id, kind, unit } = counter.stored;
    return { id, kind, name: counter.name, unit, startMs: startMsOf(counter), amount: exactAmount(counter) };
  }

  #newIdentity(counter: AnyCounter): StoredIdentity {
    this.#lastId += 1;
    return { id: this.#lastId, kind: kindOf(counter), unit: unitOf(counter) };
  }
}

/** An edited limit counts something else than its row says: it gets a new one. */
function needsRow(counter: AnyCounter): boolean {
  const { stored } = counter;
  return stored !== undefined && (stored.kind !== kindOf(counter) || stored.unit !== unitOf(counter));
}

function kindOf(counter: AnyCounter): StoredIdentity["kind"] {
  if (counter instanceof BalanceCounter) return "balance";
  return counter.bucket === undefined ? "limit" : "bucket";
}

function unitOf(counter: AnyCounter): string {
  return counter instanceof BalanceCounter ? "" : counter.rule.storedUnit;
}

function startMsOf(counter: AnyCounter): number {
  return counter instanceof BalanceCounter ? 0 : counter.startMs;
}

function exactAmount(counter: AnyCounter): bigint {
  const bucket = counter instanceof BalanceCounter ? undefined : counter.bucket;
  if (bucket === undefined) return counter.tally.posted;
  return BigInt(bucket.level) * BigInt(bucket.shape.scale) + counter.tally.pending;
}

function narrowAmount(counter: AnyCounter): number | undefined {
  const bucket = counter instanceof BalanceCounter ? undefined : counter.bucket;
  if (bucket === undefined) return counter.tally.narrowPosted;
  const amount = bucket.level * bucket.shape.scale + counter.tally.narrowPending;
  return Number.isSafeInteger(amount) ? amount : undefined;
}
