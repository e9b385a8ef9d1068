/** Starts a proxy from the last good file, and keeps the file up to date, where a key for it is configured. */
import { type Follower, followStore } from "./follow-store.ts";
import { readLastGood, readLastGoodKey } from "./last-good-file.ts";
import type { SnapshotStore } from "./snapshot-store.ts";

export interface StartLastGoodOptions {
  readonly file: string;
  readonly keyFile: string;
  readonly store: SnapshotStore;
  readonly log: {
    info(message: string, fields?: Readonly<Record<string, unknown>>): void;
    warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  };
}

/**
 * Serves from the file, if it can be believed, until an operator is heard, and writes it from then on. To be called
 * before the push client starts, closed after it.
 *
 * @throws LastGoodKeyError, or the file system's error, when the key cannot be read: that is a wrong setting.
 */
export async function startLastGood({ file, keyFile, store, log }: StartLastGoodOptions): Promise<Follower> {
  const key = await readLastGoodKey(keyFile);
  const { snapshot, observed, skipped, problem, isAbsent } = await readLastGood(file, key);
  if (isAbsent) {
    log.info(`there is no last good file ${file} yet; the proxy serves once an operator connects`);
  } else if (snapshot === undefined) {
    log.warn(`starting without the last good file ${file}: ${problem}`);
  } else {
    store.restore(snapshot, observed);
    log.info(`serving from the last good file ${file} until an operator connects`, {
      revision: snapshot.revision,
      keys: snapshot.keyCount,
      skipped,
    });
  }
  return followStore({
    store,
    file,
    key,
    onFailure: (cause) => log.warn(`the last good file ${file} cannot be written`, { cause }),
  });
}
