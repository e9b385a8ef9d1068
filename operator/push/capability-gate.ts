/**
 * Holds versions of objects back until every connected proxy knows all of their fields (docs/design/configuration.md 3.3).
 *
 * The publisher asks it before it accepts a version, and keeps the published version meanwhile. The fleet sets the
 * lacking capabilities, from the names that proxies gave in `hello`.
 */
import type { IndexedSnapshot } from "#proxy/snapshot/build-index";
import { addVersion, type BucketSums, bucketOf, subtractVersion } from "#proxy/snapshot/digest";
import { capabilitiesNeeded, type WireCapability } from "#proxy/snapshot/push/capabilities";
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

  /** The capabilities that some proxy lacks, as set last. */
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
   * The capabilities of a version that some connected proxy lacks; empty for a version that may go out.
   *
   * Capabilities that the previous version uses already do not count: a proxy that lacks one goes without that version
   * already, as when it connected after it had gone out, and waiting would only keep the edit from proxies that understand
   * it.
   *
   * @param before the version last accepted; undefined for a new object
   */
  lackingCapabilities(object: WireObject, before: WireObject | undefined): readonly WireCapability[] {
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
   * Sets the capabilities that some connected proxy lacks.
   *
   * @returns the versions that need to wait no longer; they are held until they are forgotten
   */
  setLacked(lacked: ReadonlySet<string>): [id: string, object: WireObject][] {
    this.#lacked = lacked;
    const free: [string, WireObject][] = [];
    for (const [id, { object }] of this.#versions)
      if (this.lackingCapabilities(object, undefined).length === 0) free.push([id, object]);
    return free;
  }

  /**
   * Sums of buckets as if nothing were held back. Each operator holds back for its own proxies and has other previous
   * versions, so only these sums can be compared between operators.
   *
   * @param sums of `published`, or of the part of it that a proxy acknowledged
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

  /** Whether the held versions changed since the last call. */
  consumeChange(): boolean {
    const isChanged = this.#isChanged;
    this.#isChanged = false;
    return isChanged;
  }

  #note(): void {
    this.#isChanged = true;
    this.#wanted = undefined;
  }
}
