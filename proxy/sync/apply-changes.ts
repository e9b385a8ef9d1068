/**
 * Applies transactions to the store in slices, so that no push blocks the event loop, however large.
 *
 * Invariants: nothing is visible before the commit; a transaction whose base, digest or order does not match is refused
 * whole and the last good snapshot stays; damage of one object stays with that object
 * (docs/design/configuration.md 3.1 to 3.3). One applier serves one stream; the push client calls it with one message
 * at a time.
 */
import { setImmediate as giveWay } from "node:timers/promises";
import { type IndexedSnapshot, SnapshotDraft } from "#proxy/snapshot/build-index";
import { bucketOf, CanonicalFormError, objectVersion } from "#proxy/snapshot/digest";
import type { Interner } from "#proxy/snapshot/index/intern";
import { isKeyId } from "#proxy/snapshot/object-id";
import type {
  Acknowledgement,
  Begin,
  Commit,
  RefusalCode,
  Reject,
  Transaction,
  TransactionPart,
  Upsert,
} from "#proxy/snapshot/push/messages";
import { rejectsMax } from "#proxy/snapshot/push/messages";
import type { ResourceVersions } from "#proxy/snapshot/push/resource-versions";
import type { Timers } from "#proxy/snapshot/push/timers";
import { validateObject } from "#proxy/snapshot/validate";
import type { SnapshotStore } from "./snapshot-store.ts";

/** Work between two turns of the event loop; far below the 50 ms that a push may block it. */
const sliceMs = 5;

/** A transaction refused as a whole; the proxy asks for everything anew. */
export class RefusalError extends Error {
  readonly code: RefusalCode;

  constructor(code: RefusalCode, message: string) {
    super(message);
    this.code = code;
  }
}

interface Open {
  readonly epoch: number;
  readonly revision: number;
  readonly digest: string;
  readonly base: IndexedSnapshot;
  readonly draft: SnapshotDraft;
  readonly seenIds: Set<string>;
  readonly rejects: Map<string, Reject>;
  /** Held under a version that is not the live object's. */
  readonly rejectedBefore: ReadonlySet<string>;
  readonly begunAt: number;
  readonly versions: ResourceVersions;
  readonly removedUids: readonly string[];
  parts: number;
}

export type ChangeMessage = Transaction | Begin | TransactionPart | Commit;

export class ChangeApplier {
  readonly #store: SnapshotStore;
  readonly #interner: Interner;
  readonly #timers: Timers;
  #open: Open | undefined;
  #sliceBegunAt = 0;

  constructor(store: SnapshotStore, interner: Interner, timers: Timers) {
    this.#store = store;
    this.#interner = interner;
    this.#timers = timers;
  }

  /**
   * @returns what to acknowledge, once a transaction is live.
   * @throws RefusalError
   */
  async apply(message: ChangeMessage): Promise<Acknowledgement | undefined> {
    this.#sliceBegunAt = this.#timers.now();
    switch (message.type) {
      case "transaction":
        await this.#applyContent(await this.#begin(message), message);
        return this.#commit(this.#opened(message.revision));
      case "begin":
        await this.#begin(message);
        return undefined;
      case "part":
        await this.#applyPart(message);
        return undefined;
      case "commit": {
        const open = this.#opened(message.revision);
        if (open.parts !== message.parts) throw new RefusalError("unexpected_message", "parts are missing");
        return this.#commit(open);
      }
      default:
        return message satisfies never;
    }
  }

  async #begin(message: Transaction | Begin): Promise<Open> {
    const base = this.#store.live;
    if (this.#open !== undefined) throw new RefusalError("unexpected_message", "a transaction is open already");
    if (message.base !== base.digest) throw new RefusalError("wrong_base", "the base is not what this proxy holds");
    if (message.epoch === this.#store.epoch && message.revision < base.revision) {
      throw new RefusalError("stale_revision", "the revision is older than the one held");
    }
    const open: Open = {
      epoch: message.epoch,
      revision: message.revision,
      digest: message.digest,
      base,
      draft: new SnapshotDraft(base),
      seenIds: new Set(),
      rejects: new Map(this.#store.rejects.map((reject) => [reject.id, reject])),
      rejectedBefore: new Set(this.#store.rejects.map((reject) => reject.id)),
      begunAt: this.#timers.now(),
      versions: message.versions,
      removedUids: message.removedUids,
      parts: 0,
    };
    this.#open = open;
    const emptied = new Set(message.buckets);
    if (emptied.size > 0) {
      for (const id of open.rejects.keys()) if (emptied.has(bucketOf(id))) open.rejects.delete(id);
    }
    for (const bucket of emptied) {
      open.draft.clearBucket(bucket);
      if (this.#isSliceOver()) await this.#breathe();
    }
    return open;
  }

  async #applyPart(part: TransactionPart): Promise<void> {
    const open = this.#opened(part.revision);
    if (part.index !== open.parts) throw new RefusalError("unexpected_message", "a part is out of order");
    open.parts += 1;
    await this.#applyContent(open, part);
  }

  async #applyContent(open: Open, content: { upserts: readonly Upsert[]; removes: readonly string[] }): Promise<void> {
    for (const upsert of content.upserts) {
      this.#applyUpsert(open, upsert);
      if (this.#isSliceOver()) await this.#breathe();
    }
    for (const id of content.removes) {
      noteOnce(open, id);
      open.draft.remove(id);
      open.rejects.delete(id);
      if (this.#isSliceOver()) await this.#breathe();
    }
  }

  #applyUpsert(open: Open, { id, object, uid }: Upsert): void {
    noteOnce(open, id);
    open.rejects.delete(id);
    const { version, size } = versionOf(id, object);
    if (uid !== undefined && this.#store.tombstones.has(uid, open.begunAt)) {
      // Nothing of it is live any more, so for whatever kind it stays out.
      open.draft.refuse(id, version, size);
      open.rejects.set(id, rejectOf(id, "removed", "was deleted within the last hour: the operator lags behind"));
      return;
    }
    const before = open.base.held(id);
    if (before?.object !== undefined && before.version === version && !open.rejectedBefore.has(id)) {
      // The same object again, as a resync sends it: what is live has been validated and is shared.
      open.draft.put(id, version, size, before.object);
      return;
    }
    const verdict = validateObject(object, id);
    if (verdict.problem === undefined) {
      open.draft.put(id, version, size, this.#interner.shareParts(verdict.object));
      return;
    }
    open.draft.refuse(id, version, size);
    open.rejects.set(id, rejectOf(id, "invalid_object", `${verdict.problem.path} ${verdict.problem.message}`.trim()));
  }

  #commit(open: Open): Acknowledgement {
    this.#open = undefined;
    if (open.draft.digest() !== open.digest) throw new RefusalError("wrong_digest", "the digest does not match");
    const rejects = [...open.rejects.values()];
    const applyMs = this.#timers.now() - open.begunAt;
    this.#store.tombstones.add(open.removedUids, open.begunAt);
    const { epoch, versions } = open;
    this.#store.commit({ snapshot: open.draft.finish(open.revision), epoch, rejects, applyMs, versions });
    return acknowledge(this.#store, applyMs);
  }

  #opened(revision: number): Open {
    if (this.#open === undefined || this.#open.revision !== revision) {
      throw new RefusalError("unexpected_message", "no transaction of that revision is open");
    }
    return this.#open;
  }

  /** Asked behind each object: a promise for each would cost more than half of what looking at it does. */
  #isSliceOver(): boolean {
    return this.#timers.now() - this.#sliceBegunAt >= sliceMs;
  }

  async #breathe(): Promise<void> {
    await giveWay();
    this.#sliceBegunAt = this.#timers.now();
  }
}

/** The acknowledgement of what the store holds now. */
export function acknowledge(store: SnapshotStore, applyMs: number): Acknowledgement {
  return {
    type: "acknowledgement",
    revision: store.live.revision,
    digest: store.live.digest,
    applyMs: Math.round(applyMs * 1000) / 1000,
    rejects: store.rejects.slice(0, rejectsMax),
    rejectCount: store.rejects.length,
  };
}

function rejectOf(id: string, code: Reject["code"], message: string): Reject {
  return { id, severity: isKeyId(id) ? "denied" : "held", code, message };
}

function noteOnce(open: Open, id: string): void {
  if (open.seenIds.has(id)) throw new RefusalError("duplicate_id", "an id occurs twice in one transaction");
  open.seenIds.add(id);
}

function versionOf(id: string, object: unknown) {
  try {
    return objectVersion(id, object);
  } catch (cause) {
    if (cause instanceof CanonicalFormError) throw new RefusalError("bad_frame", cause.message);
    throw cause;
  }
}
