/**
 * Keeps the database of stored responses: SQLite in a file of its own beside the ledger's, used by the store's thread
 * alone.
 *
 * The file is separate because conversations may fill a disk or be thrown away, and neither may touch the ledger.
 * `sqlite/open-database.ts` says what a kill or a power cut may lose.
 */
import { existsSync, renameSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { ReferenceKind, StoreLimits } from "#proxy/responses-state/response-store";
import { inTransaction } from "#proxy/sqlite/in-transaction";
import { makeFolder } from "#proxy/sqlite/make-folder";
import { isDamaged, openDatabase } from "#proxy/sqlite/open-database";
import type { KeptRow } from "./store-messages.ts";

const schema = `
  CREATE TABLE IF NOT EXISTS responses (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT, owner TEXT NOT NULL, id TEXT NOT NULL, previous_id TEXT,
    created_ms INTEGER NOT NULL, bytes INTEGER NOT NULL, body TEXT NOT NULL, UNIQUE (owner, id)) STRICT;
  CREATE INDEX IF NOT EXISTS by_owner ON responses (owner, sequence, bytes);
  CREATE INDEX IF NOT EXISTS by_age ON responses (created_ms);
  CREATE TABLE IF NOT EXISTS items (
    owner TEXT NOT NULL, id TEXT NOT NULL, response INTEGER NOT NULL REFERENCES responses ON DELETE CASCADE,
    PRIMARY KEY (owner, id)) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS by_response ON items (response);
`;

/** Another process of the same machine may write: it is done in milliseconds. */
const busyTimeoutMs = 2_000;
const databaseOptions = { busyTimeoutMs, pragmas: "PRAGMA foreign_keys = ON;", schema };
/** Rows forgotten in one step, so that what waits behind it waits a few milliseconds. */
const sweepRowsMax = 500;
/** So far the bounds may be off where several processes write. */
const recountAfter = 500;

interface Link {
  readonly id: string;
  readonly bytes: number;
}

interface Totals {
  responses: number;
  bytes: number;
}

interface Counted extends Readonly<Totals> {
  readonly owner: string;
}

export class ResponseDatabase {
  readonly #database: DatabaseSync;
  readonly #limits: StoreLimits;
  readonly #statements: ReturnType<typeof prepare>;
  /** Of each owner; what other processes of this machine did since the last count is not in it. */
  readonly #owners = new Map<string, Totals>();
  #bytes = 0;
  /** What the transaction that runs has added to the totals. */
  #counted: Counted[] = [];
  #keptSinceCount = 0;

  /** The file was no database any more, and a new one was begun; the old one lies beside it. */
  readonly wasDamaged: boolean;

  /** @throws Error when the folder cannot be used */
  constructor(folder: string, limits: StoreLimits) {
    makeFolder(folder);
    const path = join(folder, "responses.sqlite");
    this.#limits = limits;
    const { database, wasDamaged } = openOrBeginAnew(path);
    this.#database = database;
    this.wasDamaged = wasDamaged;
    this.#statements = prepare(database);
    this.#countAll();
  }

  /** @throws Error when the disk does not take it; nothing of it is then stored */
  keep(row: KeptRow, nowMs: number): void {
    const bytes = Buffer.byteLength(row.body);
    this.#keptSinceCount += 1;
    if (this.#keptSinceCount >= recountAfter) this.#countAll();
    this.#inTransaction(() => {
      this.#forget(this.#statements.find.get(row.owner, row.id));
      if (bytes > this.#limits.responseBytesMax) return;
      const { owner, id, previousId, createdMs, body, itemIds } = row;
      const { lastInsertRowid } = this.#statements.insert.run(owner, id, previousId ?? null, createdMs, bytes, body);
      for (const itemId of itemIds) this.#statements.insertItem.run(owner, itemId, lastInsertRowid);
      this.#countInTransaction(owner, 1, bytes);
      this.#trim(owner);
    });
    this.sweep(nowMs);
  }

  get(owner: string, id: string, nowMs: number): string | undefined {
    const row = this.#statements.get.get(owner, id, nowMs - this.#limits.ttlMs);
    return row === undefined ? undefined : String(row["body"]);
  }

  /** Oldest first. */
  chain(owner: string, id: string, nowMs: number): readonly string[] | undefined {
    return this.#linksOf(owner, id, nowMs)?.flatMap((link) => this.get(owner, link.id, nowMs) ?? []);
  }

  /** Bytes of what `get`, `chain` or `findItem` would read. */
  sizeOf(asked: ReferenceKind, owner: string, id: string, nowMs: number): number {
    if (asked === "chain") return (this.#linksOf(owner, id, nowMs) ?? []).reduce((sum, { bytes }) => sum + bytes, 0);
    const { place, placeByItem } = this.#statements;
    const row = (asked === "item" ? placeByItem : place).get(owner, id, nowMs - this.#limits.ttlMs);
    return row === undefined ? 0 : Number(row["bytes"]);
  }

  /** Oldest first; known before a body of them is read. */
  #linksOf(owner: string, id: string, nowMs: number): readonly Link[] | undefined {
    const links: Link[] = [];
    const seen = new Set<string>();
    const { chainLengthMax, chainBytesMax, ttlMs } = this.#limits;
    let total = 0;
    let next: string | undefined = id;
    while (next !== undefined) {
      const row: Readonly<Record<string, unknown>> | undefined = this.#statements.place.get(owner, next, nowMs - ttlMs);
      if (row === undefined || seen.has(next) || links.length === chainLengthMax) return undefined;
      const bytes = Number(row["bytes"]);
      total += bytes;
      if (total > chainBytesMax) return undefined;
      seen.add(next);
      links.unshift({ id: next, bytes });
      next = typeof row["previous_id"] === "string" ? row["previous_id"] : undefined;
    }
    return links;
  }

  findItem(owner: string, itemId: string, nowMs: number): string | undefined {
    const row = this.#statements.getByItem.get(owner, itemId, nowMs - this.#limits.ttlMs);
    return row === undefined ? undefined : String(row["body"]);
  }

  remove(owner: string, id: string, nowMs: number): boolean {
    const isThere = this.get(owner, id, nowMs) !== undefined;
    this.#inTransaction(() => this.#forget(this.#statements.find.get(owner, id)));
    return isThere;
  }

  /** Forgets what has lapsed, a slice at a time. */
  sweep(nowMs: number): void {
    const old = this.#statements.old.all(nowMs - this.#limits.ttlMs, sweepRowsMax);
    if (old.length === 0) return;
    this.#inTransaction(() => {
      for (const row of old) this.#forget(row);
    });
  }

  close(): void {
    this.#database.close();
  }

  /** Totals that count what was rolled back would have others forgotten for it. */
  #inTransaction(work: () => void): void {
    this.#counted = [];
    try {
      inTransaction(this.#database, work);
    } catch (error) {
      for (const { owner, responses, bytes } of this.#counted.reverse()) this.#count(owner, -responses, -bytes);
      throw error;
    }
  }

  #trim(owner: string): void {
    const { ownerResponsesMax, ownerBytesMax, bytesMax } = this.#limits;
    const totals = this.#owners.get(owner);
    while (totals !== undefined && (totals.responses > ownerResponsesMax || totals.bytes > ownerBytesMax)) {
      if (!this.#forget(this.#statements.oldestOf.get(owner))) break;
    }
    while (this.#bytes > bytesMax && this.#forget(this.#statements.oldest.get()));
  }

  /** @returns whether there was such a row */
  #forget(row: Readonly<Record<string, unknown>> | undefined): boolean {
    if (row === undefined) return false;
    const changes = this.#statements.remove.run(Number(row["sequence"])).changes;
    this.#countInTransaction(String(row["owner"]), -Number(changes), -Number(row["bytes"]));
    return Number(changes) > 0;
  }

  #countAll(): void {
    this.#owners.clear();
    this.#bytes = 0;
    for (const row of this.#statements.totals.iterate()) {
      const bytes = Number(row["bytes"]);
      this.#owners.set(String(row["owner"]), { responses: Number(row["responses"]), bytes });
      this.#bytes += bytes;
    }
    this.#keptSinceCount = 0;
  }

  #countInTransaction(owner: string, responses: number, bytes: number): void {
    this.#counted.push({ owner, responses, bytes });
    this.#count(owner, responses, bytes);
  }

  #count(owner: string, responses: number, bytes: number): void {
    const totals = this.#owners.get(owner) ?? { responses: 0, bytes: 0 };
    totals.responses += responses;
    totals.bytes += bytes;
    this.#bytes += bytes;
    if (totals.responses > 0) this.#owners.set(owner, totals);
    else this.#owners.delete(owner);
  }
}

/** Conversations are no money: a file that cannot be read must not keep the proxy from starting. */
function openOrBeginAnew(path: string): { database: DatabaseSync; wasDamaged: boolean } {
  try {
    return { database: openDatabase(path, databaseOptions), wasDamaged: false };
  } catch (error) {
    if (!isDamaged(error)) throw error;
    for (const ending of ["", "-wal", "-shm"]) {
      if (existsSync(path + ending)) renameSync(path + ending, `${path}.damaged${ending}`);
    }
    return { database: openDatabase(path, databaseOptions), wasDamaged: true };
  }
}

function prepare(database: DatabaseSync) {
  const key = "sequence, owner, bytes";
  const byItem = `FROM responses WHERE created_ms > ?3
    AND sequence = (SELECT response FROM items WHERE owner = ?1 AND id = ?2)`;
  const statement = (sql: string): StatementSync => database.prepare(sql);
  return {
    totals: statement("SELECT owner, count(*) AS responses, sum(bytes) AS bytes FROM responses GROUP BY owner"),
    insert: statement(
      "INSERT INTO responses (owner, id, previous_id, created_ms, bytes, body) VALUES (?, ?, ?, ?, ?, ?)",
    ),
    insertItem: statement("INSERT OR REPLACE INTO items (owner, id, response) VALUES (?, ?, ?)"),
    find: statement(`SELECT ${key} FROM responses WHERE owner = ? AND id = ?`),
    get: statement("SELECT body FROM responses WHERE owner = ? AND id = ? AND created_ms > ?"),
    place: statement("SELECT previous_id, bytes FROM responses WHERE owner = ? AND id = ? AND created_ms > ?"),
    getByItem: statement(`SELECT body ${byItem}`),
    placeByItem: statement(`SELECT bytes ${byItem}`),
    oldestOf: statement(`SELECT ${key} FROM responses WHERE owner = ? ORDER BY sequence LIMIT 1`),
    oldest: statement(`SELECT ${key} FROM responses ORDER BY sequence LIMIT 1`),
    old: statement(`SELECT ${key} FROM responses WHERE created_ms <= ? ORDER BY created_ms LIMIT ?`),
    remove: statement("DELETE FROM responses WHERE sequence = ?"),
  };
}
