/**
 * Shares memory between the ledger and its store's thread: it holds the changes of a batch, and its bell wakes the
 * thread.
 *
 * Batches are written several hundred times a second, and a message port would cost both threads more than the writing
 * itself. Rare messages (new rows, whole batches, commands) go by port all the same, and ring here. Invariant: one
 * batch is on its way at a time, so the memory is the ledger's while `isFree`, else the thread's.
 */
import { changeLength, type StoreBatch } from "./store-messages.ts";

/** Changes that fit: ten times what a busy proxy gathers. A batch of more brings memory of its own. */
const changesMax = 4_096;

/** Words of the control part. */
const bellWord = 0;
const writtenWord = 1;
const sequenceWord = 2;
const lengthWord = 3;
const openReservationsWord = 4;
const messagesWord = 5;
const controlBytes = 64;

const none: readonly never[] = [];

export class BatchLane {
  readonly memory: SharedArrayBuffer;
  /** Room for a batch's changes. */
  readonly changes: Float64Array<SharedArrayBuffer>;
  readonly #control: Int32Array<SharedArrayBuffer>;
  /** Ledger's side: the batch sent last. Thread's side: the batch taken last. */
  #sequence: number;
  /** Thread's side: messages taken from the port. */
  #messages = 0;

  /** @param memory of the other side's lane; absent: makes its own */
  constructor(memory?: SharedArrayBuffer) {
    this.memory = memory ?? new SharedArrayBuffer(controlBytes + changesMax * changeLength * 8);
    this.#control = new Int32Array(this.memory, 0, controlBytes / 4);
    this.changes = new Float64Array(this.memory, controlBytes);
    this.#sequence = Atomics.load(this.#control, writtenWord);
  }

  /** Ledger's side: every batch sent has been written. */
  get isFree(): boolean {
    return Atomics.load(this.#control, writtenWord) === this.#sequence;
  }

  /** Ledger's side: the number of the batch to be sent now, 32 bits that wrap. */
  nextSequence(): number {
    this.#sequence = (this.#sequence + 1) | 0;
    return this.#sequence;
  }

  /** Ledger's side: sends a batch without rows, whose changes lie at the start of `changes`. */
  offer(batch: StoreBatch): void {
    this.#control[lengthWord] = batch.changes.length;
    this.#control[openReservationsWord] = batch.openReservations;
    Atomics.store(this.#control, sequenceWord, batch.sequence);
    this.#ring();
  }

  /** Ledger's side: a message lies in the thread's port. */
  announceMessage(): void {
    Atomics.add(this.#control, messagesWord, 1);
    this.#ring();
  }

  /** Thread's side: how often it rang. Read before looking for work, so that `wait` misses nothing. */
  get rings(): number {
    return Atomics.load(this.#control, bellWord);
  }

  /** Thread's side: sleeps until it has rung more than `rings` times, or the time is over. */
  wait(rings: number, timeoutMs: number): void {
    Atomics.wait(this.#control, bellWord, rings, timeoutMs);
  }

  /** Thread's side: the batch offered, once. */
  receiveBatch(): StoreBatch | undefined {
    const sequence = Atomics.load(this.#control, sequenceWord);
    if (sequence === this.#sequence) return undefined;
    this.#sequence = sequence;
    return {
      type: "batch",
      sequence,
      isWhole: false,
      changes: this.changes.subarray(0, this.#control[lengthWord]),
      rows: none,
      forgotten: none,
      openReservations: this.#control[openReservationsWord] ?? 0,
    };
  }

  /** Thread's side: whether the port holds a message, asked once for each: looking into the port itself costs more. */
  receiveMessage(): boolean {
    if (Atomics.load(this.#control, messagesWord) === this.#messages) return false;
    this.#messages = (this.#messages + 1) | 0;
    return true;
  }

  /** Thread's side: the batch with this number is on disk. */
  setWritten(sequence: number): void {
    Atomics.store(this.#control, writtenWord, sequence);
  }

  #ring(): void {
    Atomics.add(this.#control, bellWord, 1);
    Atomics.notify(this.#control, bellWord, 1);
  }
}
