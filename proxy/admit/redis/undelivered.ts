/**
 * Keeps on disk what a shared store could not be told, until it is told: settlements of reservations, and what was used
 * without one while the store was away.
 *
 * Each entry is delivered until the store has answered, and counted by the store once by its id, whatever is lost
 * between the two: so an entry may be sent twice, from this process, a later one, or another proxy of this folder. A
 * process that starts delivers the files that others left as well. One line of JSON an entry; a line that was cut by the
 * end of a process is no entry.
 */
import { readdirSync, readFileSync } from "node:fs";
import { appendFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { makeFolder } from "#proxy/sqlite/make-folder";
import { parseEntry, type UndeliveredEntry, writeEntry } from "./undelivered-entry.ts";

export interface UndeliveredOptions {
  /** Made if absent. */
  readonly folder: string;
  /** Of this process, among those that use the folder; letters, digits, `.`, `_` and `-`. */
  readonly name: string;
  /** Tells the store. @returns whether it need not be told again */
  readonly deliver: (entry: UndeliveredEntry) => Promise<boolean>;
  readonly onProblem: (message: string) => void;
}

const entriesMax = 100_000;
/** Sent together, in one round trip. */
const batchMax = 64;
const retryMs = 500;
/** A reservation that may be held without a call is given back soon. */
const firstTryMs = 20;

export class Undelivered {
  readonly #options: UndeliveredOptions;
  readonly #path: string;
  #entries: UndeliveredEntry[] = [];
  /** Files of former processes, with the size that was read; removed when all is delivered. */
  #adopted: { readonly path: string; readonly size: number }[] = [];
  #unwritten: UndeliveredEntry[] = [];
  #writing: Promise<void> = Promise.resolve();
  #linesOnDisk = 0;
  #delivering: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** Reads what former processes left. @throws Error where the folder cannot be used */
  constructor(options: UndeliveredOptions) {
    this.#options = options;
    const { folder, name } = options;
    makeFolder(folder);
    this.#path = join(folder, `undelivered-${name}.jsonl`);
    for (const file of readdirSync(folder)) {
      if (!/^undelivered-[\w.-]+\.jsonl$/.test(file)) continue;
      const path = join(folder, file);
      const bytes = readFileSync(path);
      const found = bytes.toString("utf8").split("\n").map(parseEntry);
      this.#entries.push(...found.filter((entry) => entry !== undefined));
      if (path === this.#path) this.#linesOnDisk = found.length;
      else this.#adopted.push({ path, size: bytes.length });
    }
  }

  /** Entries that the store has not confirmed. */
  get size(): number {
    return this.#entries.length;
  }

  /** Keeps an entry, on disk within moments, and tries to deliver it soon. */
  add(entry: UndeliveredEntry): void {
    if (this.#entries.length >= entriesMax) {
      this.#options.onProblem(`more than ${entriesMax} settlements wait for the store: later ones are lost`);
      return;
    }
    this.#entries.push(entry);
    this.#unwritten.push(entry);
    if (this.#unwritten.length === 1) this.#write(() => this.#append());
    this.#deliverIn(firstTryMs);
  }

  /** Delivers what waits; call it when the store is back. */
  deliver(): Promise<void> {
    this.#delivering ??= this.#deliverAll().finally(() => {
      this.#delivering = undefined;
      if (this.#entries.length > 0) this.#deliverIn(retryMs);
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

  async #deliverAll(): Promise<void> {
    for (let hasNews = true; hasNews && this.#entries.length > 0 && !this.#isClosed; ) {
      const batch = this.#entries.slice(0, batchMax);
      const results = await Promise.all(batch.map((entry) => this.#options.deliver(entry).catch(() => false)));
      const kept = batch.filter((_, index) => results[index] !== true);
      hasNews = kept.length < batch.length;
      // What the store does not take goes behind the others: it must not hold them up.
      this.#entries = [...this.#entries.slice(batch.length), ...kept];
    }
    if (this.#entries.length === 0) this.#write(() => this.#clear());
    else if (this.#linesOnDisk > 2 * this.#entries.length + 1_000) this.#write(() => this.#rewrite());
    await this.#writing;
  }

  #deliverIn(delayMs: number): void {
    if (this.#isClosed || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.deliver();
    }, delayMs);
    this.#timer.unref();
  }

  /** One write after the other; a disk that fails costs the entry only where this process ends as well. */
  #write(work: () => Promise<void>): void {
    this.#writing = this.#writing.then(work).catch((error) => {
      this.#options.onProblem(`undelivered settlements cannot be written to ${this.#path}: ${error.message}`);
    });
  }

  async #append(): Promise<void> {
    const entries = this.#unwritten;
    this.#unwritten = [];
    this.#linesOnDisk += entries.length;
    await appendFile(this.#path, entries.map(writeEntry).join(""), { mode: 0o600, flush: true });
  }

  async #clear(): Promise<void> {
    if (this.#entries.length > 0) return;
    this.#linesOnDisk = 0;
    await rm(this.#path, { force: true });
    for (const { path, size } of this.#adopted.splice(0)) {
      const now = await stat(path).catch(() => undefined);
      // A living process goes on with its own file.
      if (now?.size === size) await rm(path, { force: true });
    }
  }

  async #rewrite(): Promise<void> {
    const entries = [...this.#entries];
    const unfinished = `${this.#path}.tmp`;
    await writeFile(unfinished, entries.map(writeEntry).join(""), { mode: 0o600, flush: true });
    await rename(unfinished, this.#path);
    this.#linesOnDisk = entries.length;
  }
}
