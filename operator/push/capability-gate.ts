/**
 * Versions of keys that wait until every connected proxy knows all their fields (`OPERATIONS.md` section 1 rule 3).
 *
 * The publisher asks before it takes a version in and keeps what was published before. Which capabilities are lacking is
 * for the fleet to say, from what proxies named in `hello`.
 */
import type { IndexedSnapshot } from "#proxy/snapshot/build-index";
import { addVersion, type BucketSums, bucketOf, subtractVersion } from "#proxy/snapshot/digest";
import { capabilitiesNeeded, type KeyCapability } from "#proxy/snapshot/push/capabilities";
import type { WireObject } from "#proxy/snapshot/types.gen";

export interface GatedVersion {
  readonly version: string;
  readonly object: WireObject;
}

export class CapabilityGate {
  readonly #versions = new Map<string, GatedVersion>();
  #lacked: ReadonlySet<string> = new Set();
  #isChanged = false;
  #wanted: { readonly published: IndexedSnapshot; readonly sums: BucketSums } | undefined;

  /** What some proxy lacks, as told last. */
  get lacked(): ReadonlySet<string> {
    return this.#lacked;
  }

  get size(): number {
    return this.#versions.size;
  }

  ids(): IterableIterator<string> {
    return this.#versions.keys();
  }

  objectOf(id: string): WireObject | undefined {
    return this.#versions.get(id)?.object;
  }

  /**
   * What of a version some connected proxy would not understand; nothing for one that may go out.
   *
   * What the version before uses already does not count: a proxy that lacks it denies that key already, as it does where
   * it connected after the key had gone out, and waiting would only keep the edit from the proxies that understand it.
   *
   * @param before the version last taken; undefined for a key that is new
   */
  tooNewIn(object: WireObject, before: WireObject | undefined): readonly KeyCapability[] {
    if (this.#lacked.size === 0) return [];
    const used = before === undefined ? [] : capabilitiesNeeded(before);
    return capabilitiesNeeded(object).filter((one) => this.#lacked.has(one.name) && !used.includes(one));
  }

  hold(id: string, version: GatedVersion): void {
    if (this.#versions.get(id)?.version === version.version) return;
    this.#versions.set(id, version);
    this.#note();
  }

  /** The object is gone, or a version of it may go out. */
  forget(id: string): void {
    if (this.#versions.delete(id)) this.#note();
  }

  /**
   * Takes note of what some connected proxy lacks.
   *
   * @returns the versions that need to wait no longer; they are still held, until they are forgotten
   */
  lack(lacked: ReadonlySet<string>): [id: string, object: WireObject][] {
    this.#lacked = lacked;
    const free: [string, WireObject][] = [];
    for (const [id, { object }] of this.#versions)
      if (this.tooNewIn(object, undefined).length === 0) free.push([id, object]);
    return free;
  }

  /**
   * Sums of buckets as they would be were nothing held back. Operators hold back for their own proxies and know
   * different versions from before, so only these can be compared between them.
   *
   * @param sums of `published`, or of what a proxy acknowledged of it
   */
  asWanted(sums: BucketSums, published: IndexedSnapshot): BucketSums {
    if (this.#versions.size === 0) return sums;
    const wanted = sums.slice();
    for (const [id, { version }] of this.#versions) {
      const held = published.held(id);
      if (held !== undefined) subtractVersion(wanted, bucketOf(id), held.version);
      addVersion(wanted, bucketOf(id), version);
    }
    return wanted;
  }

  /** The same of the published configuration itself, remembered: it is asked for once for each object. */
  wantedSums(published: IndexedSnapshot): BucketSums {
    if (this.#wanted?.published !== published) {
      this.#wanted = { published, sums: this.asWanted(published.sums, published) };
    }
    return this.#wanted.sums;
  }

  /** Whether other versions are held since this was last asked. */
  takeChange(): boolean {
    const isChanged = this.#isChanged;
    this.#isChanged = false;
    return isChanged;
  }

  #note(): void {
    this.#isChanged = true;
    this.#wanted = undefined;
  }
}
