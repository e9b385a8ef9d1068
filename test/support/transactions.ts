/** Transactions as an operator writes them, for tests that damage them. */
import { type TransactionContent, transactionLines } from "#operator/push/transaction-lines";
import { emptySnapshot, type IndexedSnapshot, SnapshotDraft } from "#proxy/snapshot/build-index";
import { differenceBetween } from "#proxy/snapshot/diff";
import { objectVersion } from "#proxy/snapshot/digest";
import { objectId } from "#proxy/snapshot/object-id";
import type { WireObject } from "#proxy/snapshot/types.gen";

export function snapshotOf(objects: Iterable<WireObject>, base: IndexedSnapshot = emptySnapshot): IndexedSnapshot {
  const draft = new SnapshotDraft(base);
  for (const object of objects) {
    const id = objectId(object);
    const { version, size } = objectVersion(id, object);
    draft.put(id, version, size, object);
  }
  return draft.finish(base.revision + 1);
}

/** The lines that bring a holder of `base` to `target`, without line feeds. */
export function linesBetween(
  base: IndexedSnapshot,
  target: IndexedSnapshot,
  changes: Partial<TransactionContent> = {},
): string[] {
  const difference = differenceBetween(base, target);
  const about = { epoch: 1, versions: {}, removedUids: [], uidOf: () => undefined, ...changes };
  return [...transactionLines({ base: base.digest, difference, target, ...about })].map((line) => line.trimEnd());
}
