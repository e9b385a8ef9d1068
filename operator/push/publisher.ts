/**
 * Publishes compile results as numbered snapshots: it finds changed objects by version, checks them with the proxy's
 * own validator, merges changes that come close together, and publishes each merge once.
 *
 * Invariants: an equal digest publishes nothing; an object that the validator refuses never goes out, and its last good
 * version stays, except that a key is withdrawn; a key that some connected proxy would not understand is held back;
 * revisions only grow; a change that takes something away from callers does not wait
 * (docs/design/configuration.md 3.2, 3.3 and 3.6). `run/reconcile-loop.ts` calls it, and `fleet.ts` listens to it.
 */
import { setImmediate as giveWay } from "node:timers/promises";
import { emptySnapshot, type IndexedSnapshot, SnapshotDraft } from "#proxy/snapshot/build-index";
import { type BucketSums, CanonicalFormError, type ObjectVersion, objectVersion } from "#proxy/snapshot/digest";
import { Interner } from "#proxy/snapshot/index/intern";
import { isKeyId } from "#proxy/snapshot/object-id";
import type { WireCapability } from "#proxy/snapshot/push/capabilities";
import { objectBytesMax, snapshotBytesMax } from "#proxy/snapshot/push/messages";
import { systemTimers, type Timers } from "#proxy/snapshot/push/timers";
import type { WireObject } from "#proxy/snapshot/types.gen";
import { type ObjectProblem, validateObject } from "#proxy/snapshot/validate";
import { CapabilityGate, type GatedVersion } from "./capability-gate.ts";
import { type RevocationPriority, revocationPriorityOf } from "./revocation-priority.ts";

export interface Changes {
  readonly upserts: Iterable<readonly [id: string, object: WireObject]>;
  readonly removes: Iterable<string>;
  /** Called once these changes, and all before them, are in the published snapshot. */
  readonly onPublished?: () => void;
}

/** One published revision. */
export interface Publication {
  readonly snapshot: IndexedSnapshot;
  /** Ids that changed since the revision before. */
  readonly changed: readonly string[];
  /** Keys and credentials that are dead from this revision on. */
  readonly revokedKeys: readonly string[];
  readonly revokedCredentials: readonly string[];
}

export interface PublisherOptions {
  /** Changes within this time of each other go out together. */
  readonly quietMs?: number;
  /** No change waits longer, however many follow. */
  readonly longestMs?: number;
  /** The least time between two publications that are not urgent (docs/design/reliability.md J5). */
  readonly spacingMs?: number;
  readonly timers?: Timers;
  /** Characters of JSON of all objects together; smaller in tests. */
  readonly sizeMax?: number;
}

/** Objects handled before the event loop may run other work. */
const sliceMs = 5;
/** Changes put into a snapshot in one go; more are staged in slices. */
const flushAtOnceMax = 500;

interface Pending {
  readonly version: string;
  readonly size: number;
  readonly object: WireObject;
}

export class Publisher {
  readonly #quietMs: number;
  readonly #longestMs: number;
  readonly #spacingMs: number;
  readonly #sizeMax: number;
  readonly #timers: Timers;
  readonly #listeners = new Set<(publication: Publication) => void>();
  readonly #interner = new Interner();
  readonly #problems = new Map<string, ObjectProblem>();
  readonly #heldBack = new CapabilityGate();
  readonly #heldBackListeners = new Set<() => void>();
  /** Changes not yet published; undefined for a removal. */
  #pending = new Map<string, Pending | undefined>();
  /** Changes that are being put into a snapshot. */
  #flushing: ReadonlyMap<string, Pending | undefined> | undefined;
  #revokedKeys = new Set<string>();
  #revokedCredentials = new Set<string>();
  #snapshot: IndexedSnapshot = emptySnapshot;
  #hasPublished = false;
  /** Callbacks for the publication of the pending changes. */
  #waiting: (() => void)[] = [];
  #pendingSince: number | undefined;
  /** When changes that could wait were last published; urgent ones neither wait for it nor reset it. */
  #calmAt = -Infinity;
  #pendingSize = 0;
  #isStaging = false;
  /** Publishing became due while changes were being staged. */
  #isFlushDue = false;
  #cancelFlush = () => {};

  constructor(options: PublisherOptions = {}) {
    this.#quietMs = options.quietMs ?? 10;
    this.#longestMs = options.longestMs ?? 250;
    this.#spacingMs = options.spacingMs ?? 100;
    this.#sizeMax = options.sizeMax ?? snapshotBytesMax;
    this.#timers = options.timers ?? systemTimers;
  }

  /** The configuration last published. */
  get snapshot(): IndexedSnapshot {
    return this.#snapshot;
  }

  /** False until the source has been read once: an operator that knows nothing yet must not empty a proxy. */
  get hasPublished(): boolean {
    return this.#hasPublished;
  }

  /** Objects refused by the validator or for their size, by id; they are not in the snapshot, or in an older version. */
  get problems(): ReadonlyMap<string, ObjectProblem> {
    return this.#problems;
  }

  /** True for an object whose present version is not published yet. */
  isWaiting(id: string): boolean {
    return this.#pending.has(id) || this.#flushing?.has(id) === true;
  }

  /** The capabilities that some proxy lacks, as `setLacked` was given last. */
  get lacked(): ReadonlySet<string> {
    return this.#heldBack.lacked;
  }

  /** Whether a version of the object waits for proxies to be upgraded. */
  isHeldBack(id: string): boolean {
    return this.#heldBack.objectOf(id) !== undefined;
  }

  /** Keys of which a version waits for proxies to be upgraded. */
  get heldBackCount(): number {
    return this.#heldBack.size;
  }

  /** Sums of the configuration as if nothing were held back. */
  get wantedSums(): BucketSums {
    return this.#heldBack.wantedSums(this.#snapshot);
  }

  /** The same for sums that a proxy acknowledged: both are equal when only held back versions are missing. */
  asWanted(sums: BucketSums): BucketSums {
    return this.#heldBack.asWanted(sums, this.#snapshot);
  }

  /**
   * Sets the capabilities that some connected proxy lacks. Versions that need not wait any more go out at once. Published
   * versions stay: withdrawing a key would deny it at proxies that understand it.
   */
  setLacked(lacked: ReadonlySet<string>): void {
    for (const [id, object] of this.#heldBack.setLacked(lacked)) this.#upsert(id, object);
    if (!this.#heldBack.consumeChange()) return;
    this.#tellHeldBack();
    if (this.#pending.size > 0) this.#flush();
  }

  /** The last accepted object of an id: published, pending or held back; undefined when it was refused or is gone. */
  latest(id: string): WireObject | undefined {
    if (this.#problems.has(id)) return undefined;
    return this.#heldBack.objectOf(id) ?? this.#accepted(id)?.object;
  }

  /** The published or pending object of an id. */
  #accepted(id: string): { readonly version: string; readonly object: WireObject | undefined } | undefined {
    return this.#pending.has(id) ? this.#pending.get(id) : this.#snapshot.held(id);
  }

  /** @returns a function that ends the listening. */
  onPublish(listener: (publication: Publication) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Calls back when the held back versions change. @returns a function that ends the listening */
  onHeldBack(listener: () => void): () => void {
    this.#heldBackListeners.add(listener);
    return () => this.#heldBackListeners.delete(listener);
  }

  /** Publishes a whole configuration; finds the changes by version. */
  publish(objects: ReadonlyMap<string, WireObject>): void {
    const removes: string[] = [];
    for (const [id] of this.#snapshot.objects()) if (!objects.has(id)) removes.push(id);
    for (const [id, pending] of this.#pending) if (pending !== undefined && !objects.has(id)) removes.push(id);
    for (const id of this.#problems.keys()) if (!objects.has(id)) removes.push(id);
    for (const id of this.#heldBack.ids()) if (!objects.has(id)) removes.push(id);
    this.publishChanges({ upserts: objects, removes });
  }

  /** Publishes changes. The first call publishes at once, even without a change. */
  publishChanges(changes: Changes): void {
    const steps = this.#stage(changes);
    while (steps.next().done !== true);
  }

  /** The same for many changes: it yields to other work every few milliseconds. One call at a time. */
  async publishChangesInSlices(changes: Changes): Promise<void> {
    let begunAt = this.#timers.now();
    for (const steps = this.#stage(changes); steps.next().done !== true; ) {
      if (this.#timers.now() - begunAt < sliceMs) continue;
      await giveWay();
      begunAt = this.#timers.now();
    }
  }

  /** Stops the clock; nothing more is published. */
  close(): void {
    this.#cancelFlush();
    this.#listeners.clear();
  }

  *#stage(changes: Changes): Generator<void> {
    // Changes of one call go out together: no flush comes in between, nor after a call that threw halfway. The caller
    // repeats it with the same changes.
    this.#isStaging = true;
    let isUrgent = !this.#hasPublished;
    for (const [id, object] of changes.upserts) {
      isUrgent = this.#upsert(id, object) || isUrgent;
      yield;
    }
    for (const id of changes.removes) {
      this.#problems.delete(id);
      this.#heldBack.forget(id);
      isUrgent = this.#change(id, undefined) || isUrgent;
      yield;
    }
    // Many changes are staged in slices too, and wait for no others.
    if (this.#pending.size > flushAtOnceMax) yield* this.#flushInSteps();
    this.#isStaging = false;
    if (this.#heldBack.consumeChange()) this.#tellHeldBack();
    if (changes.onPublished !== undefined) this.#waiting.push(changes.onPublished);
    if (!this.#hasPublished || (this.#pending.size > 0 && (isUrgent || this.#isFlushDue))) this.#flush();
    else if (this.#pending.size > 0) this.#scheduleFlush();
    else this.#tellWaiting(this.#waiting.splice(0));
  }

  #tellWaiting(waiting: readonly (() => void)[]): void {
    for (const onPublished of waiting) onPublished();
  }

  #tellHeldBack(): void {
    for (const listener of this.#heldBackListeners) listener();
  }

  #upsert(id: string, object: WireObject): boolean {
    const found = this.#examine(id, object);
    if ("message" in found) {
      this.#problems.set(id, found);
      this.#heldBack.forget(id);
      return isKeyId(id) ? this.#change(id, undefined) : false;
    }
    const { version, size, canonical } = found;
    this.#problems.delete(id);
    const current = this.#accepted(id);
    if (current?.version === version) {
      this.#heldBack.forget(id);
      return false;
    }
    // Kept with sorted members, the form in which each connection writes it and each proxy hashes it.
    const sorted: WireObject = this.#interner.shareParts(JSON.parse(canonical));
    const tooNew = this.#heldBack.lackingCapabilities(sorted, current?.object);
    if (tooNew.length > 0) return this.#holdBack(id, { version, object: sorted }, tooNew);
    this.#heldBack.forget(id);
    return this.#change(id, { version, size, object: sorted });
  }

  /**
   * Holds back a version that some connected proxy would not understand.
   *
   * The previous version stays in force: it grants what was granted until now, and the status says that the new field
   * does nothing yet. It must not stay when the edit takes anything else away, above all when it suspends a key, replaces
   * a credential, narrows a field that all proxies know or disables a channel. The new version cannot be sent, and a
   * mixture of both would be a configuration that nobody wrote. Then rule 3 demands to deny: the object is withdrawn
   * everywhere at once. A new object is not sent at all.
   *
   * @returns whether the change is urgent
   */
  #holdBack(id: string, next: GatedVersion, tooNew: readonly WireCapability[]): boolean {
    this.#heldBack.hold(id, next);
    const known = tooNew.reduce((rest: WireObject, { without }) => without(rest), next.object);
    return revocationPriorityOf(this.#accepted(id)?.object, known).isUrgent && this.#change(id, undefined);
  }

  /** The version of an object, or why it cannot go out. */
  #examine(id: string, object: WireObject): ObjectVersion | ObjectProblem {
    const { problem } = validateObject(object, id);
    if (problem !== undefined) return problem;
    try {
      const found = objectVersion(id, object);
      return this.#checkSize(id, object, found.size) ?? found;
    } catch (cause) {
      if (cause instanceof CanonicalFormError) return { path: "", message: `is ${cause.message}` };
      throw cause;
    }
  }

  #checkSize(id: string, object: WireObject, size: number): ObjectProblem | undefined {
    // Only long texts need counting in bytes: a character has at most three.
    if (size * 3 > objectBytesMax && Buffer.byteLength(JSON.stringify(object)) > objectBytesMax) {
      return { path: "", message: `is larger than ${objectBytesMax} bytes, the most that one object may have` };
    }
    const replaced = this.#pending.has(id) ? this.#pending.get(id) : this.#snapshot.held(id);
    if (this.#snapshot.size + this.#pendingSize + size - (replaced?.size ?? 0) > this.#sizeMax) {
      return { path: "", message: `does not fit: all objects together may have ${this.#sizeMax} bytes` };
    }
    return undefined;
  }

  /** @returns whether it must not wait. */
  #change(id: string, next: Pending | undefined): boolean {
    const held = this.#snapshot.held(id);
    const before = this.#pending.has(id) ? this.#pending.get(id) : held;
    if (before === undefined && next === undefined) return false;
    this.#pendingSize += (next?.size ?? 0) - (before?.size ?? 0);
    if (held === undefined && next === undefined) this.#pending.delete(id);
    else this.#pending.set(id, next);
    // Callers are served by the published version, so a change is compared with that one.
    const urgency = revocationPriorityOf(held?.object, next?.object);
    this.#noteRevocation(id, urgency, held?.object);
    return urgency.isUrgent;
  }

  #noteRevocation(id: string, urgency: RevocationPriority, held: WireObject | undefined): void {
    if (held?.kind !== "key") return;
    this.#revokedKeys.delete(id);
    for (const { sha256 } of held.credentials) this.#revokedCredentials.delete(sha256);
    if (urgency.isKeyDead) this.#revokedKeys.add(id);
    else for (const sha256 of urgency.deadCredentials) this.#revokedCredentials.add(sha256);
  }

  #scheduleFlush(): void {
    const now = this.#timers.now();
    this.#pendingSince ??= now;
    const latest = this.#pendingSince + this.#longestMs;
    const earliest = this.#calmAt + this.#spacingMs;
    const dueAt = Math.max(now, earliest, Math.min(now + this.#quietMs, latest));
    this.#cancelFlush();
    this.#cancelFlush = this.#timers.after(dueAt - now, () => {
      this.#calmAt = this.#timers.now();
      this.#flush();
    });
  }

  #flush(): void {
    this.#isFlushDue = this.#isStaging;
    if (this.#isStaging) return;
    const steps = this.#flushInSteps();
    while (steps.next().done !== true);
  }

  *#flushInSteps(): Generator<void> {
    this.#isFlushDue = false;
    this.#cancelFlush();
    this.#pendingSince = undefined;
    this.#pendingSize = 0;
    const pending = this.#pending;
    this.#flushing = pending;
    const revokedKeys = [...this.#revokedKeys];
    const revokedCredentials = [...this.#revokedCredentials];
    const waiting = this.#waiting.splice(0);
    this.#pending = new Map();
    this.#revokedKeys = new Set();
    this.#revokedCredentials = new Set();

    const draft = new SnapshotDraft(this.#snapshot);
    for (const [id, next] of pending) {
      if (next === undefined) draft.remove(id);
      else draft.put(id, next.version, next.size, next.object);
      yield;
    }
    this.#flushing = undefined;
    const isFirst = !this.#hasPublished;
    this.#hasPublished = true;
    if (isFirst || draft.digest() !== this.#snapshot.digest) {
      this.#snapshot = draft.finish(this.#snapshot.revision + 1);
      const publication = { snapshot: this.#snapshot, changed: [...pending.keys()], revokedKeys, revokedCredentials };
      for (const listener of this.#listeners) listener(publication);
    }
    this.#tellWaiting(waiting);
  }
}
