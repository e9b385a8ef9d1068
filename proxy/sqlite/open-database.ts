/**
 * Opens a SQLite file in WAL mode, creates missing tables, and gives rights to the owner alone, since spending and
 * prompts are in such files.
 *
 * synchronous=NORMAL: a killed process loses nothing committed, a power cut may lose the last moments. The threads of
 * the ledger's store and of stored responses call it, each with a file of its own.
 */
import { chmodSync, closeSync, openSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

export interface DatabaseOptions {
  /** How long to wait for another process that writes. */
  readonly busyTimeoutMs: number;
  /** Run before the mode of the journal is chosen. */
  readonly pragmas: string;
  /** Statements that may be run on a database that has all of it. */
  readonly schema: string;
}

/** @throws Error when the file cannot be used; `isDamaged` tells whether it is no database any more */
export function openDatabase(path: string, { busyTimeoutMs, pragmas, schema }: DatabaseOptions): DatabaseSync {
  // Made before SQLite sees it, so that it never has wider rights; its journal inherits them.
  closeSync(openSync(path, "a", 0o600));
  chmodSync(path, 0o600);
  const database = new DatabaseSync(path, { timeout: busyTimeoutMs });
  try {
    database.exec(`${pragmas} PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;`);
    database.exec(`BEGIN IMMEDIATE; ${schema} COMMIT;`);
  } catch (error) {
    database.close();
    throw error;
  }
  return database;
}

/**
 * Reads all of it once: a page that is found damaged only when something is written to it would fail for ever.
 * @throws Error for which `isDamaged` is true
 */
export function checkDatabase(database: DatabaseSync): void {
  const found = database.prepare("PRAGMA quick_check(1)").get()?.["quick_check"];
  if (found !== "ok") throw new Error(`malformed: ${String(found)}`);
}

/** Whether the file is no SQLite database, or none any more. */
export function isDamaged(error: unknown): boolean {
  return error instanceof Error && /not a database|malformed|corrupt/.test(error.message);
}
