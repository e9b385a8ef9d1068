/** Snapshots for tests of stages: the real index over the given wire objects. */
import { emptySnapshot, type IndexedSnapshot, SnapshotDraft } from "#proxy/snapshot/build-index";
import { objectId } from "#proxy/snapshot/object-id";
import type { WireObject } from "#proxy/snapshot/types.gen";

export function snapshotWith(...objects: readonly WireObject[]): IndexedSnapshot {
  const draft = new SnapshotDraft(emptySnapshot);
  for (const object of objects) draft.put(objectId(object), "0".repeat(64), 1, object);
  return draft.finish(1);
}
