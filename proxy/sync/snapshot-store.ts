/**
 * Holds the one live snapshot of a proxy, swapped whole: a request pins the one it began with, so a push never mixes
 * two configurations in one response. Revocations that overtake a transaction apply to whatever snapshot is live and
 * stay in force until the transaction that contains them has been applied. The push client alone writes to it.
 */
import { emptySnapshot, type IndexedSnapshot } from "#proxy/snapshot/build-index";
import type { Reject } from "#proxy/snapshot/push/messages";
import { highestVersions, noVersions, type ResourceVersions } from "#proxy/snapshot/push/resource-versions";
import type { Snapshot } from "#proxy/snapshot/snapshot";
import { Revocations } from "./revocations.ts";
import { Tombstones } from "./tombstones.ts";

/** Something happened to the live configuration; for metrics, logs and parts that keep state by configuration. */
export type StoreEvent =
  | {
      readonly type: "applied";
      readonly revision: number;
      /** From the first byte of the transaction read to the swap. */
      readonly applyMs: number;
      /** All objects now held that could not be taken, not only those of this transaction. */
      readonly rejects: readonly Reject[];
      readonly previous: Snapshot;
      readonly snapshot: IndexedSnapshot;
    }
  | { readonly type: "revoked"; readonly keys: readonly string[]; readonly credentials: readonly string[] };

export interface Applied {
  readonly snapshot: IndexedSnapshot;
  readonly epoch: number;
  readonly rejects: readonly Reject[];
  readonly applyMs: number;
  readonly versions?: ResourceVersions;
}

/** How much of the source's history a configuration contains. */
export interface ObservedStatus {
  /** Raised when the source itself went back in time, as after a restore. */
  readonly epoch: number;
  readonly versions: ResourceVersions;
}

/** What a revocation names, as the push protocol's message does. */
export interface Revocation {
  readonly revision: number;
  readonly keys: readonly string[];
  readonly credentials: readonly string[];
  readonly versions?: ResourceVersions;
}

export class SnapshotStore {
  #live: IndexedSnapshot = emptySnapshot;
  #isReady = false;
  #isStale = false;
  #epoch = 0;
  #versions: ResourceVersions = noVersions;
  #rejects: readonly Reject[] = [];
  readonly #revocations = new Revocations();
  /** Uids that must not come back in this epoch. */
  readonly tombstones = new Tombstones();
  readonly #listeners = new Set<(event: StoreEvent) => void>();

  /** The configuration for a request that begins now, until its last byte. */
  pin(): Snapshot {
    return this.#live;
  }

  /** The live snapshot with all that the push protocol needs of it. */
  get live(): IndexedSnapshot {
    return this.#live;
  }

  /** True once a first full snapshot is live; staleness never takes it back (docs/design/configuration.md 3.9). */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** True while what is live came from a file and no operator has confirmed it. */
  get isStale(): boolean {
    return this.#isStale;
  }

  get epoch(): number {
    return this.#epoch;
  }

  /** The highest versions of the source that this proxy has seen; what is live may be younger than all of them. */
  get versions(): ResourceVersions {
    return this.#versions;
  }

  /** Objects held that could not be taken. */
  get rejects(): readonly Reject[] {
    return this.#rejects;
  }

  /** @returns a function that ends the listening. */
  onEvent(listener: (event: StoreEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Swaps in what a transaction built. */
  commit(applied: Applied): void {
    const previous = this.#live;
    this.#epoch = applied.epoch;
    this.#rejects = applied.rejects;
    this.#note(applied.versions);
    this.#revocations.endBy(applied.snapshot);
    this.#live = applied.snapshot.withRevoked(this.#revocations.inForce);
    this.#isReady = true;
    this.#isStale = false;
    this.#emit({
      type: "applied",
      revision: this.#live.revision,
      applyMs: applied.applyMs,
      rejects: applied.rejects,
      previous,
      snapshot: this.#live,
    });
  }

  /** The operator holds the very same configuration, perhaps under another revision. */
  confirm(revision: number, epoch: number, versions: ResourceVersions = noVersions): void {
    this.commit({ snapshot: this.#live.withRevision(revision), epoch, rejects: this.#rejects, applyMs: 0, versions });
  }

  /** Serves from a file until an operator is heard: ready and stale. */
  restore(snapshot: IndexedSnapshot, observed: ObservedStatus = { epoch: 0, versions: noVersions }): void {
    if (this.#isReady) return;
    this.#live = snapshot;
    this.#epoch = observed.epoch;
    this.#versions = observed.versions;
    this.#isReady = true;
    this.#isStale = true;
  }

  /** Takes keys and credentials out of use at once; idempotent. */
  revoke(revocation: Revocation): void {
    this.#note(revocation.versions);
    this.#revocations.add(this.#live, revocation.revision, revocation.keys, revocation.credentials);
    this.#live = this.#live.withRevoked(this.#revocations.inForce);
    this.#emit({ type: "revoked", keys: revocation.keys, credentials: revocation.credentials });
  }

  /**
   * Another operator counts revisions anew.
   *
   * @param epoch of that operator; a newer one resets what this proxy knows of the source's past
   * @param isInformed the operator has seen all of the source that this proxy has: what it sends contains all revocations
   */
  beginCountingAnew(epoch: number, isInformed: boolean): void {
    if (epoch > this.#epoch) {
      this.#versions = noVersions;
      this.tombstones.clear();
    }
    this.#epoch = epoch;
    this.#live = this.#live.withRevision(0);
    this.#revocations.beginCountingAnew(isInformed);
  }

  #note(versions: ResourceVersions = noVersions): void {
    this.#versions = highestVersions(this.#versions, versions);
  }

  #emit(event: StoreEvent): void {
    for (const listener of this.#listeners) listener(event);
  }
}
