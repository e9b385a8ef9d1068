/**
 * Keeps on disk what a shared store could not be told, until it is told: settlements of reservations, and what was used
 * without one while the store was away.
 *
 * Each entry is delivered until the store has answered, and counted by the store once by its id, whatever is lost
 * between the two: so an entry may be sent twice, from this process, a later one, or another proxy of this folder. A
 * process that starts delivers the files that others left as well. One line of JSON an entry; a line that was cut by the
 * end of a process is no entry.
 *
 * Entries that only rates claim are kept apart, and forgotten when their windows are over: calls that a rate counts are
 * many, and must not take the room of money. What is lost all the same is counted.
 */
import { appendFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { RefusedCommand } from "#proxy/admit/redis/script-answers";
import { isRatePeriod } from "#proxy/admit/window";
import { makeFolder } from "#proxy/sqlite/make-folder";
import { type UndeliveredEntry, writeEntry } from "./undelivered-entry.ts";
import { LeftFiles } from "./undelivered-files.ts";

export interface UndeliveredOptions {
  /** Made if absent. */
  readonly folder: string;
  /** Of this process, among those that use the folder; letters, digits, `.`, `_` and `-`. */
  readonly name: string;
  /** The store's clock as far as it is known, milliseconds since the epoch. */
  readonly now: () => number;
  /** Tells the store. @returns whether it need not be told again */
  readonly deliver: (entry: UndeliveredEntry) => Promise<boolean>;
  /** Whether an entry that only rates claim counts nowhere any more. */
  readonly isOver: (entry: UndeliveredEntry) => boolean;
  readonly onProblem: (message: string) => void;
  /** At most so many entries of each sort; those below unless given. */
  readonly bounds?: UndeliveredBounds;
}

interface UndeliveredBounds {
  readonly money: number;
  readonly rates: number;
}

/** About 60 MB of memory together, and as much of disk. */
const defaultBounds: UndeliveredBounds = { money: 100_000, rates: 20_000 };
/** Sent together, in one round trip. */
const batchMax = 64;
const retryMs = 500;
/** A reservation that may be held without a call is given back soon. */
const firstTryMs = 20;
const pruneEveryMs = 1_000;
/** An entry that the store refuses, with all else in order, is given up when it is so old: somebody had a day to mend it. */
const refusedMs = 24 * 3_600_000;

export class Undelivered {
  readonly #options: UndeliveredOptions;
  readonly #bounds: UndeliveredBounds;
  readonly #path: string;
  readonly #left: LeftFiles;
  #money: UndeliveredEntry[] = [];
  #rates: UndeliveredEntry[] = [];
  /** On their way to the store. */
  #sent: UndeliveredEntry[] = [];
  #unwritten: UndeliveredEntry[] = [];
  #writing: Promise<void> = Promise.resolve();
  #linesOnDisk = 0;
  /** The disk did not take an entry whole: the next write replaces the file. */
  #isTorn = false;
  #delivering: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #timerAtMs = Number.POSITIVE_INFINITY;
  #prunedAtMs = Number.NEGATIVE_INFINITY;
  #lost = 0;
  #isClosed = false;

  /** Reads what former processes left, as much as is kept at once. @throws Error where the folder cannot be used */
  constructor(options: UndeliveredOptions) {
    this.#options = options;
    this.#bounds = options.bounds ?? defaultBounds;
    const { folder, name } = options;
    makeFolder(folder);
    this.#path = join(folder, `undelivered-${name}.jsonl`);
    this.#left = new LeftFiles(folder, this.#path);
    this.#adopt();
  }

  /** Entries that the store has not confirmed. */
  get size(): number {
    return this.#money.length + this.#rates.length + this.#sent.length;
  }

  /** Entries that were given up although they still counted. */
  get lostCount(): number {
    return this.#lost;
  }

  /** Keeps an entry, on disk within moments, and tries to deliver it soon. */
  add(entry: UndeliveredEntry): void {
    if (!this.#hasRoomFor(entry)) {
      this.#lose("too many settlements wait for the store: later ones are lost");
      return;
    }
    this.#queueOf(entry).push(entry);
    this.#unwritten.push(entry);
    if (this.#unwritten.length === 1) this.#write(() => this.#append());
    this.#deliverIn(firstTryMs);
  }

  /** Delivers what waits; call it when the store is back. */
  deliver(): Promise<void> {
    this.#delivering ??= this.#deliverAll().finally(() => {
      this.#delivering = undefined;
      if (this.size > 0) this.#deliverIn(retryMs);
    });
    return this.#delivering;
  }

  /** Waits until all is on disk. What is not delivered by then is left to the next process. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#delivering;
    await this.#writing;
  }

  #queueOf(entry: UndeliveredEntry): UndeliveredEntry[] {
    return isOfRates(entry) ? this.#rates : this.#money;
  }

  #hasRoomFor(entry: UndeliveredEntry): boolean {
    if (!isOfRates(entry)) return this.#money.length < this.#bounds.money;
    if (this.#rates.length < this.#bounds.rates) return true;
    const nowMs = performance.now();
    if (nowMs - this.#prunedAtMs < pruneEveryMs) return false;
    this.#prunedAtMs = nowMs;
    this.#prune();
    return this.#rates.length < this.#bounds.rates;
  }

  #prune(): void {
    this.#rates = this.#rates.filter((entry) => !this.#options.isOver(entry));
  }

  #lose(message: string): void {
    this.#lost += 1;
    this.#options.onProblem(`${message} (${this.#lost} so far)`);
  }

  #adopt(): void {
    for (const entry of this.#left.read(this.#bounds.money)) {
      if (!isOfRates(entry) || !this.#options.isOver(entry)) this.#queueOf(entry).push(entry);
    }
  }

  async #deliverAll(): Promise<void> {
    this.#prune();
    for (const queue of ["money", "rates"] as const) {
      for (let hasNews = true; hasNews && !this.#isClosed; ) {
        hasNews = await this.#deliverBatch(queue === "money" ? this.#money : this.#rates);
      }
    }
    if (this.size === 0) this.#write(() => this.#clear());
    else if (this.#linesOnDisk > 2 * this.size + 1_000) this.#write(() => this.#rewrite());
    await this.#writing;
  }

  /** @returns whether one of them is done with */
  async #deliverBatch(queue: UndeliveredEntry[]): Promise<boolean> {
    if (queue.length === 0) return false;
    const batch = (this.#sent = queue.splice(0, batchMax));
    const results = await Promise.all(batch.map((entry) => this.#deliverOne(entry)));
    const kept = batch.filter((_, index) => results[index] !== true);
    this.#sent = [];
    // What the store does not take goes behind the others: it must not hold them up.
    for (const entry of kept) this.#queueOf(entry).push(entry);
    return kept.length < batch.length;
  }

  async #deliverOne(entry: UndeliveredEntry): Promise<boolean> {
    const { deliver, now } = this.#options;
    try {
      return await deliver(entry);
    } catch (error) {
      if (!(error instanceof RefusedCommand) || now() - entry.atMs < refusedMs) return false;
      this.#lose(`a settlement is given up after a day: ${error.message}`);
      return true;
    }
  }

  #deliverIn(delayMs: number): void {
    const atMs = performance.now() + delayMs;
    if (this.#isClosed || atMs >= this.#timerAtMs) return;
    clearTimeout(this.#timer);
    this.#timerAtMs = atMs;
    this.#timer = setTimeout(() => {
      this.#timerAtMs = Number.POSITIVE_INFINITY;
      void this.deliver();
    }, delayMs);
    this.#timer.unref();
  }

  /** One write after the other; a disk that fails costs the entry only where this process ends as well. */
  #write(work: () => Promise<void>): void {
    this.#writing = this.#writing.then(work).catch((error) => {
      this.#isTorn = true;
      this.#options.onProblem(`undelivered settlements cannot be written to ${this.#path}: ${error.message}`);
    });
  }

  async #append(): Promise<void> {
    const entries = this.#unwritten;
    this.#unwritten = [];
    if (this.#isTorn) return await this.#rewrite();
    this.#linesOnDisk += entries.length;
    await appendFile(this.#path, entries.map(writeEntry).join(""), { mode: 0o600, flush: true });
  }

  async #clear(): Promise<void> {
    if (this.size > 0) return;
    this.#linesOnDisk = 0;
    await rm(this.#path, { force: true });
    this.#isTorn = false;
    await this.#left.remove();
    if (!this.#left.hasMore || this.#isClosed) return;
    this.#adopt();
    this.#deliverIn(firstTryMs);
  }

  async #rewrite(): Promise<void> {
    const entries = [...this.#sent, ...this.#money, ...this.#rates];
    const unfinished = `${this.#path}.tmp`;
    await writeFile(unfinished, entries.map(writeEntry).join(""), { mode: 0o600, flush: true });
    await rename(unfinished, this.#path);
    this.#linesOnDisk = entries.length;
    this.#isTorn = false;
  }
}

/** Counts in nothing but limits of an hour at most. */
function isOfRates({ claims }: UndeliveredEntry): boolean {
  return (
    claims !== undefined &&
    claims.balances.length === 0 &&
    claims.limits.every(({ limit }) => isRatePeriod(limit.period))
  );
}
