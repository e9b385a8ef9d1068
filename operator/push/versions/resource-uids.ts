/**
 * Knows the uids of the resources behind the wire objects, and which of them were deleted within the last hour. Proxies
 * keep those as tombstones (docs/design/configuration.md 3.12).
 *
 * A key that only lost its Secret is not deleted and may come back. A source without uids, such as a folder, has no
 * tombstones.
 */

import type { ObjectMeta, OwnKind, ResourceChange, ResourceSet } from "#operator/resources/resource";
import { removedUidsMax } from "#proxy/snapshot/push/messages";

/** As long as proxies keep them. */
const keptMs = 3_600_000;

const ownKinds: ReadonlyMap<string, OwnKind> = new Map([
  ["key", "ApiKey"],
  ["channel", "Channel"],
  ["route", "ModelRoute"],
  ["account", "Account"],
]);

/** One resource by its uid, as opposed to a later one of the same name. */
export interface IdentifiedResource {
  readonly kind: OwnKind;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

interface Removed {
  readonly uid: string;
  /** Counts removals. */
  readonly sequence: number;
  readonly at: number;
}

export class ResourceUids {
  readonly #resources: ResourceSet;
  readonly #uids = new Map<string, string>();
  readonly #listeners = new Set<() => void>();
  #removed: Removed[] = [];
  /** The uids of `#removed` that have not come back. */
  #dead = new Set<string>();
  #sequence = 0;

  constructor(resources: ResourceSet) {
    this.#resources = resources;
  }

  /** Counts removals since the start. */
  get sequence(): number {
    return this.#sequence;
  }

  /**
   * Calls back when a removed uid comes back. Only a restored backup does that, whatever its versions are, and proxies
   * refuse the object until they begin a new epoch.
   *
   * @returns a function that ends the listening
   */
  onReturn(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Uid of the resource behind a wire object, where it has one of its own. */
  uidOf(id: string): string | undefined {
    return this.#uids.get(id);
  }

  /** The resource behind a wire object, where it has one of its own. */
  resourceOf(id: string): IdentifiedResource | undefined {
    const uid = this.#uids.get(id);
    const [prefix = "", namespace = "", name = ""] = id.split("/");
    const kind = ownKinds.get(prefix);
    return uid === undefined || kind === undefined ? undefined : { kind, namespace, name, uid };
  }

  /** Notes a resource's present uid or its removal. @param now on a monotonic clock */
  observe(change: ResourceChange, now: number): void {
    const found = this.#find(change);
    if (found === undefined) return;
    const { id, metadata } = found;
    const before = this.#uids.get(id);
    if (metadata?.uid === before) return;
    if (metadata?.uid === undefined) this.#uids.delete(id);
    else this.#add(id, metadata.uid);
    if (before === undefined) return;
    this.#sequence += 1;
    this.#removed.push({ uid: before, sequence: this.#sequence, at: now });
    this.#dead.add(before);
    const [oldest] = this.#removed;
    if (this.#removed.length > 2 * removedUidsMax || (oldest !== undefined && now - oldest.at > 2 * keptMs)) {
      this.#removed = this.#removed.slice(-removedUidsMax).filter(({ at }) => now - at <= keptMs);
      this.#dead = new Set(this.#removed.map(({ uid }) => uid).filter((uid) => this.#dead.has(uid)));
    }
  }

  #add(id: string, uid: string): void {
    this.#uids.set(id, uid);
    if (this.#dead.delete(uid)) for (const listener of [...this.#listeners]) listener();
  }

  /** The newest removals after the one counted `sequence`, without uids that have come back. */
  removedSince(sequence: number): string[] {
    if (sequence === this.#sequence) return [];
    const uids: string[] = [];
    for (let index = this.#removed.length - 1; index >= 0 && uids.length < removedUidsMax; index -= 1) {
      const removed = this.#removed[index];
      if (removed === undefined || removed.sequence <= sequence) break;
      if (this.#dead.has(removed.uid)) uids.push(removed.uid);
    }
    return uids;
  }

  /**
   * Forgets all removals, because a new epoch begins: removed objects may be there again, and the first kind that notices a
   * restore begins the epoch for all kinds. Proxies forget the removals too and must not be told of them again.
   */
  beginEpoch(): void {
    this.#removed = [];
    this.#dead.clear();
  }

  #find({ kind, namespace, name }: ResourceChange): { id: string; metadata: ObjectMeta | undefined } | undefined {
    const identity = `${namespace}/${name}`;
    switch (kind) {
      case "ApiKey":
        return { id: `key/${identity}`, metadata: this.#resources.apiKeys.get(identity)?.metadata };
      case "Channel":
        return { id: `channel/${identity}`, metadata: this.#resources.channels.get(identity)?.metadata };
      case "ModelRoute":
        return { id: `route/${identity}`, metadata: this.#resources.modelRoutes.get(identity)?.metadata };
      case "Account":
        return { id: `account/${identity}`, metadata: this.#resources.accounts.get(identity)?.metadata };
      default:
        return undefined;
    }
  }
}
