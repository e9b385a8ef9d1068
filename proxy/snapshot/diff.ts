/**
 * Finds the difference between two configurations by bucket: a proxy that reconnects sends its 256 sums and gets only
 * the buckets that differ, whole (docs/design/configuration.md 3.7). Between two snapshots at hand the difference is
 * exact, object by object.
 */
import type { IndexedSnapshot, SnapshotDraft } from "./build-index.ts";
import { type BucketSums, bucketCount } from "./digest.ts";
import type { WireObject } from "./types.gen.ts";

export interface Difference {
  /** Buckets whose content is replaced by the upserts that follow. */
  readonly buckets: readonly number[];
  /** Ids to take from `target`. */
  readonly upserts: readonly string[];
  readonly removes: readonly string[];
}

/** Buckets whose sums differ; all of them when the other side holds nothing. */
export function differingBuckets(one: BucketSums | undefined, other: BucketSums): number[] {
  const differing: number[] = [];
  for (let bucket = 0; bucket < bucketCount; bucket += 1) {
    if (one === undefined || one[bucket] !== other[bucket]) differing.push(bucket);
  }
  return differing;
}

/** What to send to a holder of `sums` so that it holds `target`. */
export function differenceBySums(sums: BucketSums | undefined, target: IndexedSnapshot): Difference {
  const buckets = differingBuckets(sums, target.sums);
  const upserts: string[] = [];
  for (const bucket of buckets) for (const id of target.bucket(bucket).keys()) upserts.push(id);
  return { buckets, upserts, removes: [] };
}

/** What changed between two snapshots; looks only into buckets whose sums differ. */
export function differenceBetween(base: IndexedSnapshot, target: IndexedSnapshot): Difference {
  const upserts: string[] = [];
  const removes: string[] = [];
  for (const bucket of differingBuckets(base.sums, target.sums)) {
    const before = base.bucket(bucket);
    const after = target.bucket(bucket);
    for (const [id, held] of after) if (before.get(id)?.version !== held.version) upserts.push(id);
    for (const id of before.keys()) if (!after.has(id)) removes.push(id);
  }
  return { buckets: [], upserts, removes };
}

/** Applies a difference to a draft at once; the push client does the same in slices. */
export function applyDifference(draft: SnapshotDraft, difference: Difference, target: IndexedSnapshot): void {
  for (const bucket of difference.buckets) draft.clearBucket(bucket);
  for (const id of difference.upserts) {
    const held = target.held(id);
    if (held?.object !== undefined) draft.put(id, held.version, held.size, held.object satisfies WireObject);
  }
  for (const id of difference.removes) draft.remove(id);
}
