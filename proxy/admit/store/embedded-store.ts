/**
 * Stores the embedded ledger's counters in a database: SQLite in WAL mode, run by the store's own thread.
 *
 * A batch is one row: its changes are appended to `journal` as they come, and compacted into `counters` in slices when
 * enough have gathered, so that a busy counter costs one row write for thousands of changes. The stored state is
 * `counters` with the journal applied over it in order. `sqlite/open-database.ts` says what a kill or a power cut may
 * lose.
 *
 * The epoch identifies this history. It is in the database and in a file beside it: a database that comes back empty
 * or from another history contradicts the file, and is not taken for "nothing was ever spent".
 *
 * SQLite keeps writing after its file was deleted or replaced, and nothing of that is left at the next start. `place`
 * detects this, and `recreate` makes a new file for a ledger that holds everything in memory.
 */
import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { inTransaction } from "#proxy/sqlite/in-transaction";
import { makeFolder } from "#proxy/sqlite/make-folder";
import { checkDatabase, isDamaged, openDatabase } from "#proxy/sqlite/open-database";
import { changeLength, type StoreBatch, type StoredCounter } from "./store-messages.ts";

/** Changes in the journal that start compacting it, 1.2 MB: gathering their last words takes some milliseconds. */
const journalChangesMax = 50_000;
/** Rows compacted in one step, so that batches wait a few milliseconds at most. */
const compactionSliceRows = 1_000;
const bytesPerChange = changeLength * Float64Array.BYTES_PER_ELEMENT;
const int64Max = 2n ** 63n - 1n;

/** What a database is opened for: `Recreate` only where all of it follows, as the first batch. */
type Opening = "Known" | "AcceptEmpty" | "Recreate";

/** The store holds another history than the epoch file names, or none. */
export class AmnesiaError extends Error {}

const schema = `
  CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS counters (
    id INTEGER PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL, unit TEXT NOT NULL,
    start_ms INTEGER NOT NULL, amount INTEGER NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS journal (
    sequence INTEGER PRIMARY KEY, open_reservations INTEGER NOT NULL, changes BLOB NOT NULL) STRICT;
`;

interface Statements {
  readonly append: StatementSync;
  readonly trim: StatementSync;
  readonly row: StatementSync;
  readonly compact: StatementSync;
  readonly forget: StatementSync;
  readonly setOpen: StatementSync;
}

interface Compaction {
  readonly throughSequence: number;
  readonly changes: IterableIterator<[number, { startMs: number; amount: number }]>;
}

export class EmbeddedStore {
  readonly #database: DatabaseSync;
  readonly #statements: Statements;
  /** As read when opened, until `load` has handed them out. */
  #loaded: StoredCounter[];
  #sequence = 0;
  #journalChanges = 0;
  #openReservations = 0;
  /** Largest id of a counter; ids are never used again. */
  #idMax = 0;
  #compaction: Compaction | undefined;
  readonly #path: string;
  /** Of the open file. */
  readonly #fileId: string | undefined;
  /** Not yet in the database: it belongs there with the whole batch that makes it true. */
  #epochToCome: string | undefined;

  /**
   * Opens `ledger.sqlite` in `folder`, and reads all of it: wherever it is damaged, its history is lost.
   *
   * @param acceptEmpty begins a new epoch where the old one is lost; what was there is moved aside, not deleted
   * @throws AmnesiaError when the store is damaged or contradicts its epoch file
   * @throws Error when another process has the file or the folder cannot be used
   */
  static open(folder: string, acceptEmpty: boolean): EmbeddedStore {
    makeFolder(folder);
    try {
      return new EmbeddedStore(folder, acceptEmpty ? "AcceptEmpty" : "Known");
    } catch (error) {
      if (!isDamaged(error)) throw error;
      if (!acceptEmpty) throw new AmnesiaError("the ledger's database is damaged", { cause: error });
      moveAside(databasePath(folder));
      return new EmbeddedStore(folder, "AcceptEmpty");
    }
  }

  /**
   * Makes `ledger.sqlite` anew where it was deleted. The first batch must be whole.
   *
   * The epoch file comes first and the database's own epoch with that batch: a process that ends in between leaves a
   * store that contradicts its epoch file, never one that seems to have counted nothing.
   * @throws Error when another process made it meanwhile or the folder cannot be used
   */
  static recreate(folder: string): EmbeddedStore {
    makeFolder(folder);
    writeEpoch(epochPath(folder), randomUUID());
    return new EmbeddedStore(folder, "Recreate");
  }

  private constructor(folder: string, opening: Opening) {
    this.#path = databasePath(folder);
    this.#database = openLedger(this.#path);
    try {
      this.#fileId = fileIdOf(this.#path);
      checkDatabase(this.#database);
      this.#agreeOnEpoch(epochPath(folder), opening);
      this.#statements = prepare(this.#database);
      const open = this.#database.prepare("SELECT value FROM meta WHERE name = 'open reservations'").get()?.["value"];
      this.#openReservations = Number(open ?? 0);
      this.#compactAll();
      this.#loaded = this.#readCounters();
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  /** Whether the open file is still in its place, or nothing, or another file. */
  place(): "Same" | "Gone" | "Other" {
    const found = fileIdOf(this.#path);
    if (found === undefined) return "Gone";
    return found === this.#fileId ? "Same" : "Other";
  }

  /** Everything stored; call once, before the first batch. */
  load(): { counters: StoredCounter[]; openReservations: number } {
    const counters = this.#loaded;
    this.#loaded = [];
    const openReservations = this.#openReservations;
    this.#openReservations = 0;
    this.#statements.setOpen.run("0");
    return { counters, openReservations };
  }

  #readCounters(): StoredCounter[] {
    const rows = this.#database.prepare("SELECT id, kind, name, unit, start_ms, amount FROM counters");
    rows.setReadBigInts(true);
    const counters: StoredCounter[] = [];
    for (const row of rows.iterate()) {
      const { id, kind, name, unit, start_ms: startMs, amount } = row;
      if (kind !== "limit" && kind !== "bucket" && kind !== "balance") continue;
      if (typeof name !== "string" || typeof unit !== "string" || typeof amount !== "bigint") continue;
      this.#idMax = Math.max(this.#idMax, Number(id));
      counters.push({ id: Number(id), kind, name, unit, startMs: Number(startMs), amount });
    }
    return counters;
  }

  /** Writes one batch in one transaction. @throws Error when the disk does not take it; nothing of it is then stored. */
  write(batch: StoreBatch): void {
    const { append, row, forget } = this.#statements;
    const sequence = this.#sequence + 1;
    const { buffer, byteOffset, byteLength } = batch.changes;
    const changes = new Uint8Array(buffer, byteOffset, byteLength);
    if (!batch.isWhole && batch.rows.length === 0 && batch.forgotten.length === 0) {
      append.run(sequence, batch.openReservations, changes);
    } else {
      // A row written over a known counter must not be undone by older changes that the journal still holds.
      if (!batch.isWhole && batch.rows.some(({ id }) => id <= this.#idMax)) this.#compactAll();
      inTransaction(this.#database, () => {
        if (batch.isWhole) this.#database.exec("DELETE FROM journal; DELETE FROM counters;");
        for (const { id, kind, name, unit, startMs, amount } of batch.rows) {
          row.run(id, kind, name, unit, startMs, amount > int64Max ? int64Max : amount);
        }
        for (const id of batch.forgotten) forget.run(id);
        append.run(sequence, batch.openReservations, changes);
        if (this.#epochToCome !== undefined) this.#setEpoch(this.#epochToCome);
      });
      this.#epochToCome = undefined;
      for (const { id } of batch.rows) this.#idMax = Math.max(this.#idMax, id);
      if (batch.isWhole) this.#compaction = undefined;
    }
    this.#sequence = sequence;
    this.#openReservations = batch.openReservations;
    this.#journalChanges += batch.changes.length / changeLength;
  }

  /** Compacts a slice of the journal into the counters. @returns whether more is to be done */
  compact(): boolean {
    if (this.#compaction === undefined) {
      if (this.#journalChanges < journalChangesMax) return false;
      this.#compaction = this.#beginCompaction();
    }
    const { changes, throughSequence } = this.#compaction;
    let isDone = false;
    inTransaction(this.#database, () => {
      for (let count = 0; count < compactionSliceRows && !isDone; count += 1) {
        const next = changes.next();
        if (next.done === true) isDone = true;
        else this.#statements.compact.run(next.value[1].startMs, next.value[1].amount, next.value[0]);
      }
      if (!isDone) return;
      this.#statements.trim.run(throughSequence);
      this.#statements.setOpen.run(String(this.#openReservations));
    });
    if (isDone) this.#compaction = undefined;
    return !isDone;
  }

  close(): void {
    this.#database.close();
  }

  #compactAll(): void {
    while (this.#compaction !== undefined) this.compact();
    this.#compaction = this.#beginCompaction();
    while (this.compact());
  }

  /** The last word of the journal on each counter. */
  #beginCompaction(): Compaction {
    const latest = new Map<number, { startMs: number; amount: number }>();
    const rows = this.#database.prepare("SELECT sequence, open_reservations, changes FROM journal ORDER BY sequence");
    for (const { sequence, open_reservations: open, changes } of rows.iterate()) {
      if (!(changes instanceof Uint8Array) || changes.length % bytesPerChange !== 0)
        throw new Error("malformed: the journal holds something else than changes");
      this.#sequence = Math.max(this.#sequence, Number(sequence));
      this.#openReservations = Number(open);
      const numbers = new Float64Array(changes.slice().buffer);
      for (let at = 0; at < numbers.length; at += changeLength) {
        const id = numbers[at] ?? 0;
        let last = latest.get(id);
        if (last === undefined) {
          last = { startMs: 0, amount: 0 };
          latest.set(id, last);
        }
        last.startMs = numbers[at + 1] ?? 0;
        last.amount = numbers[at + 2] ?? 0;
      }
    }
    this.#journalChanges = 0;
    return { throughSequence: this.#sequence, changes: latest.entries() };
  }

  #agreeOnEpoch(path: string, opening: Opening): void {
    const stored = this.#database.prepare("SELECT value FROM meta WHERE name = 'epoch'").get()?.["value"];
    const expected = existsSync(path) ? readFileSync(path, "utf8").trim() : undefined;
    if (typeof stored === "string" && (expected === undefined || expected === stored)) {
      // A crash between the two writes of a first start leaves the database alone: nothing is lost.
      if (expected === undefined) writeEpoch(path, stored);
      return;
    }
    if (opening === "Recreate" && stored === undefined) {
      this.#epochToCome = expected;
      return;
    }
    if (expected !== undefined && opening !== "AcceptEmpty") {
      const found = stored === undefined ? "is empty" : "belongs to another epoch";
      throw new AmnesiaError(`the ledger's database ${found}, but this data folder has recorded consumption before`);
    }
    const epoch = randomUUID();
    this.#setEpoch(epoch);
    writeEpoch(path, epoch);
  }

  #setEpoch(epoch: string): void {
    this.#database.prepare("INSERT OR REPLACE INTO meta VALUES ('epoch', ?)").run(epoch);
  }
}

/** The path of a folder's ledger. */
export function databasePath(folder: string): string {
  return join(folder, "ledger.sqlite");
}

function epochPath(folder: string): string {
  return join(folder, "ledger.epoch");
}

/** Tells files apart, whatever their names. */
function fileIdOf(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found && `${found.dev}:${found.ino}`;
}

function openLedger(path: string): DatabaseSync {
  try {
    // An exclusive lock lasts until the process ends, however it ends: two processes never count in one file.
    return openDatabase(path, { busyTimeoutMs: 0, pragmas: "PRAGMA locking_mode = EXCLUSIVE;", schema });
  } catch (error) {
    if (error instanceof Error && /locked|busy/.test(error.message)) {
      throw new Error(`another process is using ${path}: one ledger belongs to one proxy`, { cause: error });
    }
    if (error instanceof Error && /disk is full|ENOSPC/.test(error.message)) {
      throw new Error(`the disk of ${path} is full: make room there, or name a folder on another disk`, {
        cause: error,
      });
    }
    throw error;
  }
}

function prepare(database: DatabaseSync): Statements {
  return {
    append: database.prepare("INSERT INTO journal VALUES (?, ?, ?)"),
    trim: database.prepare("DELETE FROM journal WHERE sequence <= ?"),
    row: database.prepare("INSERT OR REPLACE INTO counters VALUES (?, ?, ?, ?, ?, ?)"),
    compact: database.prepare("UPDATE counters SET start_ms = ?, amount = ? WHERE id = ?"),
    forget: database.prepare("DELETE FROM counters WHERE id = ?"),
    setOpen: database.prepare("INSERT OR REPLACE INTO meta VALUES ('open reservations', ?)"),
  };
}

function moveAside(path: string): void {
  const aside = `${path}.damaged-${randomUUID()}`;
  renameSync(path, aside);
  if (existsSync(`${path}-wal`)) renameSync(`${path}-wal`, `${aside}-wal`);
}

/** Written beside and renamed: a torn epoch file would close balances for nothing. */
function writeEpoch(path: string, epoch: string): void {
  writeFileSync(`${path}.new`, `${epoch}\n`, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}
