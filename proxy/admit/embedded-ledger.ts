/**
 * Implements the embedded ledger: decisions in memory, made durable by a thread with Node's own SQLite
 * (docs/design/limits-and-money.md 7).
 *
 * Invariants: a decision never waits for the disk. A settled amount is on its way to the disk within `flushDelayMs`,
 * and a killed process loses at most that. One process counts in one data folder. A store that came back empty, one
 * that was replaced, and one that cannot be written close quotas and balances until that is cured, and never open
 * them; one that was deleted meanwhile is written again from memory. Rates (Second to Hour) stay local and continue.
 * One proxy uses this ledger; a fleet with hard quotas needs a shared store.
 */
import type { Worker } from "node:worker_threads";
import { startThread } from "#proxy/runtime/start-thread";
import type { QuotaFailureMode } from "#proxy/settings";
import type { LedgerCounts } from "./count/ledger-counts.ts";
import { refuseClosed } from "./count/refuse-closed.ts";
import type { Amounts, CounterReading, Ledger, Refusal, Reservation, ReserveRequest, SettleOutcome } from "./ledger.ts";
import { MemoryLedger, type MemoryLedgerOptions } from "./memory-ledger.ts";
import { BatchLane } from "./store/batch-lane.ts";
import { ChangeJournal } from "./store/change-journal.ts";
import type { LedgerStoreStart, StoreReply, StoreRequest } from "./store/store-messages.ts";

export interface EmbeddedLedgerOptions extends Omit<MemoryLedgerOptions, "journal"> {
  /** Data folder: `ledger.sqlite`, and `ledger.epoch` beside it. Made if absent. */
  readonly folder: string;
  /** Begins anew where the store has lost its history: consumption counts from zero. */
  readonly acceptEmpty?: boolean;
  /**
   * What holds while the store cannot be written or has lost its history. BalancesClosed, the default: balances and
   * quotas refuse, rates go on in memory. Closed: every limit refuses. Open: all go on in memory.
   */
  readonly failureMode?: QuotaFailureMode;
  /** Longest time a change waits for its batch; default 3, so that it is written within 5. */
  readonly flushDelayMs?: number;
  /** Told each time the store's state changes. */
  readonly onStoreState?: (state: StoreState) => void;
}

/** `writing` is health; `lost` waits for `acceptEmpty()`; `failing` is tried again every second. */
export interface StoreState {
  readonly kind: "writing" | "failing" | "lost";
  /** What happened, for the log; empty when writing. */
  readonly message: string;
}

const noRoom = new Float64Array(0);
/** A disk that takes longer than this for a batch is as good as none. */
const stalledMs = 5_000;
const retryMs = 1_000;
const closeDeadlineMs = 10_000;

export class EmbeddedLedger implements Ledger {
  readonly #options: EmbeddedLedgerOptions;
  readonly #memory: MemoryLedger;
  readonly #journal: ChangeJournal;
  #worker: Worker;
  #lane: BatchLane;
  #state: StoreState = { kind: "writing", message: "" };
  /** When the latest batch was sent, by the monotonic clock. */
  #sentAtMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #isWholeOnItsWay = false;
  #isClosing = false;
  #onClosed: (() => void) | undefined;

  /**
   * Opens the store and restores what it holds.
   *
   * A store that lost its history opens all the same, with state `lost`.
   * @throws Error when another process uses the folder or it cannot be used at all
   */
  static open(options: EmbeddedLedgerOptions): Promise<EmbeddedLedger> {
    return new Promise((resolve, reject) => {
      const { worker, lane } = startWorker(options.folder, options.acceptEmpty ?? false);
      worker.once("error", reject);
      worker.once("message", (reply: StoreReply) => {
        worker.off("error", reject);
        if (reply.type === "refused") {
          void worker.terminate();
          reject(new Error(reply.message));
        } else resolve(new EmbeddedLedger(options, worker, lane, reply));
      });
    });
  }

  private constructor(options: EmbeddedLedgerOptions, worker: Worker, lane: BatchLane, reply: StoreReply) {
    this.#options = options;
    const counters = reply.type === "opened" ? reply.counters : [];
    const lastId = counters.reduce((largest, { id }) => Math.max(largest, id), 0);
    this.#journal = new ChangeJournal(lastId, () => this.#schedule(options.flushDelayMs ?? 3));
    this.#memory = new MemoryLedger({ ...options, journal: this.#journal });
    if (reply.type === "opened") this.#memory.restore(counters, reply.openReservations);
    this.#worker = worker;
    this.#lane = lane;
    this.#watch(worker);
    if (reply.type === "amnesia") this.#setState("lost", reply.message);
  }

  get counts(): LedgerCounts {
    return this.#memory.counts;
  }

  get storeState(): StoreState {
    return this.#state;
  }

  get openCount(): number {
    return this.#memory.openCount;
  }

  reserve(request: ReserveRequest): Reservation | Refusal {
    if (this.#state.kind !== "writing") {
      const { failureMode = "BalancesClosed", now } = this.#options;
      const refusal = refuseClosed(request, failureMode, this.#memory.rules, now());
      if (refusal !== undefined) return refusal;
    }
    return this.#memory.reserve(request);
  }

  settle(id: string, actual: Amounts): SettleOutcome {
    return this.#memory.settle(id, actual);
  }

  touch(id: string): void {
    this.#memory.touch(id);
  }

  read(counter: string): CounterReading | undefined {
    return this.#memory.read(counter);
  }

  /** See `MemoryLedger.sweep`. */
  sweep(isLive: (counter: string) => boolean, max: number): Generator<void, void, void> {
    return this.#memory.sweep(isLive, max);
  }

  /** The operator of a `lost` store decided that nothing is left to count: begins a new epoch. */
  acceptEmpty(): void {
    if (this.#state.kind === "lost") this.#send({ type: "accept-empty" });
  }

  /** Writes what is left and ends the thread. */
  async close(): Promise<void> {
    if (this.#isClosing) return;
    this.#isClosing = true;
    clearTimeout(this.#timer);
    if (this.#state.kind === "writing" && this.#journal.hasChanges) this.#sendBatch();
    let deadline: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#onClosed = resolve;
      deadline = setTimeout(resolve, closeDeadlineMs);
      this.#send({ type: "close" });
    });
    clearTimeout(deadline);
    await this.#worker.terminate();
  }

  #schedule(delayMs: number): void {
    if (this.#timer !== undefined || this.#isClosing) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#flush();
    }, delayMs);
    this.#timer.unref();
  }

  #flush(): void {
    if (this.#isClosing || this.#state.kind === "lost") return;
    if (this.#state.kind === "failing") {
      this.#sendWhole();
      this.#schedule(retryMs);
      return;
    }
    // One batch at a time: while the disk is busy changes merge.
    if (!this.#lane.isFree) {
      if (performance.now() - this.#sentAtMs > stalledMs) this.#setState("failing", "the disk does not respond");
      this.#schedule(1);
      return;
    }
    if (this.#journal.hasChanges) this.#sendBatch();
  }

  #sendBatch(): void {
    this.#sentAtMs = performance.now();
    const lane = this.#lane;
    // Only the last batch of all may be sent behind another: it leaves that one's memory alone.
    const room = lane.isFree ? lane.changes : noRoom;
    const batch = this.#journal.drainBatch(lane.nextSequence(), this.#memory.openCount, room);
    const isPlain = batch.rows.length === 0 && batch.forgotten.length === 0;
    if (isPlain && batch.changes.buffer === lane.memory) lane.offer(batch);
    else this.#send(batch);
  }

  /** Memory is the truth while the process lives: after a failure the store gets all of it. */
  #sendWhole(): void {
    if (this.#isWholeOnItsWay) return;
    this.#isWholeOnItsWay = true;
    this.#send(this.#journal.drainWhole(this.#lane.nextSequence(), this.#memory));
  }

  #send(request: StoreRequest): void {
    this.#worker.postMessage(request);
    this.#lane.announceMessage();
  }

  #watch(worker: Worker): void {
    worker.on("message", (reply: StoreReply) => this.#hear(reply));
    worker.on("error", (error) => this.#setState("failing", error.message));
    worker.on("exit", () => {
      if (this.#isClosing) this.#onClosed?.();
      else if (worker === this.#worker) this.#restart();
    });
  }

  #hear(reply: StoreReply): void {
    switch (reply.type) {
      case "opened":
        // A new thread, a lost store accepted as empty, or a deleted one made anew: it gets what memory holds.
        this.#isWholeOnItsWay = false;
        this.#sendWhole();
        return;
      case "recovered":
        this.#isWholeOnItsWay = false;
        this.#setState("writing", "");
        return;
      case "amnesia":
        this.#setState("lost", reply.message);
        return;
      case "failed":
        this.#isWholeOnItsWay = false;
        this.#setState("failing", reply.message);
        return;
      case "refused":
        // Its exit starts the next try.
        this.#setState("failing", reply.message);
        void this.#worker.terminate();
        return;
      case "closed":
        this.#onClosed?.();
        return;
    }
  }

  #restart(): void {
    this.#setState("failing", "the store's thread ended");
    const timer = setTimeout(() => {
      if (this.#isClosing) return;
      const { worker, lane } = startWorker(this.#options.folder, false);
      this.#worker = worker;
      this.#lane = lane;
      this.#watch(worker);
    }, retryMs);
    timer.unref();
  }

  #setState(kind: StoreState["kind"], message: string): void {
    if (kind === this.#state.kind && message === this.#state.message) return;
    this.#state = { kind, message };
    this.#options.onStoreState?.(this.#state);
    if (kind === "failing") {
      clearTimeout(this.#timer);
      this.#timer = undefined;
      this.#schedule(retryMs);
    } else if (kind === "writing" && this.#journal.hasChanges) this.#schedule(1);
  }
}

function startWorker(folder: string, acceptEmpty: boolean): { worker: Worker; lane: BatchLane } {
  const lane = new BatchLane();
  const workerData: LedgerStoreStart = { folder, acceptEmpty, lane: lane.memory };
  return { worker: startThread("./store/embedded-store-worker", import.meta.url, workerData), lane };
}
