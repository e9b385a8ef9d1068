/**
 * Holds the one live snapshot of a proxy, swapped whole: a request pins what it began with, a push never mixes two
 * configurations in one answer. Revocations that overtake a transaction are laid over whatever is live and stay in
 * force until the transaction that contains them has been applied. Written to by the push client alone.
 */
import { emptySnapshot, type IndexedSnapshot, type Revoked } from "../snapshot/build-index.ts";
import type { Reject } from "../snapshot/push/messages.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";

/** Something happened to the live configuration; for metrics, logs and whoever keeps state by configuration. */
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
}

/** What a revocation names, as the push protocol's message does. */
export interface Revocation {
  readonly revision: number;
  readonly keys: readonly string[];
  readonly credentials: readonly string[];
}

export class SnapshotStore {
  #live: IndexedSnapshot = emptySnapshot;
  #isReady = false;
  #isStale = false;
  #epoch = 0;
  #rejects: readonly Reject[] = [];
  /** Revision whose transaction lifts the revocation. */
  readonly #revokedKeys = new Map<string, number>();
  readonly #revokedCredentials = new Map<string, number>();
  readonly #listeners = new Set<(event: StoreEvent) => void>();

  /** The configuration for a request that begins now, until its last byte. */
  pin(): Snapshot {
    return this.#live;
  }

  /** The live snapshot with all that the push protocol needs of it. */
  get live(): IndexedSnapshot {
    return this.#live;
  }

  /** True once a first full snapshot is live; staleness never takes it back (`OPERATIONS.md` section 1 rule 9). */
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
    this.#liftUpTo(applied.snapshot.revision);
    this.#live = applied.snapshot.withRevoked(this.#revoked());
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
  confirm(revision: number, epoch: number): void {
    this.commit({ snapshot: this.#live.withRevision(revision), epoch, rejects: this.#rejects, applyMs: 0 });
  }

  /** Serves from a file until an operator is heard: ready and stale. */
  restore(snapshot: IndexedSnapshot): void {
    if (this.#isReady) return;
    this.#live = snapshot;
    this.#isReady = true;
    this.#isStale = true;
  }

  /** Takes keys and credentials out of use at once; idempotent. */
  revoke(revocation: Revocation): void {
    for (const id of revocation.keys) this.#revokedKeys.set(id, revocation.revision);
    for (const sha256 of revocation.credentials) this.#revokedCredentials.set(sha256, revocation.revision);
    this.#live = this.#live.withRevoked(this.#revoked());
    this.#emit({ type: "revoked", keys: revocation.keys, credentials: revocation.credentials });
  }

  /** Another operator counts revisions anew: its first transaction lifts all revocations, as it contains them. */
  beginCountingAnew(epoch: number): void {
    this.#epoch = epoch;
    this.#live = this.#live.withRevision(0);
    for (const id of this.#revokedKeys.keys()) this.#revokedKeys.set(id, 0);
    for (const sha256 of this.#revokedCredentials.keys()) this.#revokedCredentials.set(sha256, 0);
  }

  #liftUpTo(revision: number): void {
    for (const [id, until] of this.#revokedKeys) if (until <= revision) this.#revokedKeys.delete(id);
    for (const [sha256, until] of this.#revokedCredentials) {
      if (until <= revision) this.#revokedCredentials.delete(sha256);
    }
  }

  #revoked(): Revoked | undefined {
    if (this.#revokedKeys.size === 0 && this.#revokedCredentials.size === 0) return undefined;
    return { keys: new Set(this.#revokedKeys.keys()), credentials: new Set(this.#revokedCredentials.keys()) };
  }

  #emit(event: StoreEvent): void {
    for (const listener of this.#listeners) listener(event);
  }
}
