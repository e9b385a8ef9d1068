/** Runs work on a database as one transaction. */
import type { DatabaseSync } from "node:sqlite";

/** Does all of the work or nothing of it. @throws what the work throws, or Error when the disk does not take it */
export function inTransaction(database: DatabaseSync, work: () => void): void {
  database.exec("BEGIN IMMEDIATE");
  try {
    work();
    database.exec("COMMIT");
  } catch (error) {
    // SQLite has already rolled back where the disk was full.
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}
