/**
 * Collects one list while it is read, and applies it to the store at its end.
 *
 * A list is a picture of one moment; events and responses that came while it was read are newer and stay. When the list
 * shows an object in an earlier version than the one held, although that version is not newer than the list, the later
 * version was undone: by a restored backup whose versions were raised above all earlier ones, as etcd recommends, or
 * have grown past them.
 */
import type { ApiObject } from "#operator/kubernetes/api/api-object";
import type { ListCollector } from "#operator/kubernetes/watch/list-watch-options";
import type { MutableResourceSet } from "#operator/resources/mutable-resource-set";
import type { AnyResource, ResourceChange, ResourceKind } from "#operator/resources/resource";
import { changeOf, identityOf, isOlder, toChange } from "./object-identity.ts";

/** The operations of a store that a list needs. */
export interface CollectingStore {
  read(kind: ResourceKind, object: ApiObject, before: AnyResource | undefined): AnyResource | undefined;
  /** Whether any part of it is kept: Secrets and ConfigMaps only as far as an object refers to them. */
  wants(change: ResourceChange): boolean;
  replace(next: AnyResource, before: AnyResource | undefined): boolean;
  /** Notes wanted data that a complete list of this version does not show. */
  noteAbsent(kind: "Secret" | "ConfigMap", list: AbsenceList): void;
  dropAll(changes: readonly ResourceChange[]): void;
  resolveWaiting(kind: ResourceKind, list: CompleteList): void;
  /** Reports an object whose later version was undone. */
  observeUndone(kind: ResourceKind, object: ApiObject): void;
  rewind(): void;
  tell(changes: readonly ResourceChange[]): void;
}

/** A complete list, as objects that wait for their data are compared with it. */
export interface CompleteList {
  readonly namespace: string | undefined;
  readonly version: string;
  /** Identities that events named since it was begun. */
  readonly touched: ReadonlySet<string>;
}

/** A complete list, as missing data is compared with it. */
export interface AbsenceList {
  readonly namespace: string | undefined;
  readonly version: string;
  readonly has: (identity: string) => boolean;
}

interface ListedObject {
  readonly version: string;
  /** Undefined: it exists and is not wanted. */
  readonly resource: AnyResource | undefined;
  /** Kept where a later version is held. */
  readonly earlier: ApiObject | undefined;
}

export class Collector implements ListCollector {
  readonly #store: CollectingStore;
  readonly #resources: MutableResourceSet;
  readonly #kind: ResourceKind;
  readonly #namespace: string | undefined;
  readonly #onDrop: () => void;
  readonly #listed = new Map<string, ListedObject>();
  readonly #touched = new Set<string>();

  constructor(
    store: CollectingStore,
    resources: MutableResourceSet,
    kind: ResourceKind,
    namespace: string | undefined,
    onDrop: () => void,
  ) {
    this.#store = store;
    this.#resources = resources;
    this.#kind = kind;
    this.#namespace = namespace;
    this.#onDrop = onDrop;
  }

  add(object: ApiObject): void {
    const change = changeOf(this.#kind, object);
    const before = this.#resources.get(change);
    const version = object.metadata.resourceVersion ?? "";
    // A version that is held already is not parsed again.
    const isHeld = before !== undefined && before.metadata.resourceVersion === version;
    const resource = isHeld ? before : this.#store.read(this.#kind, object, before);
    const earlier = isOlder(version, before?.metadata.resourceVersion) ? object : undefined;
    this.#listed.set(identityOf(change), { version, resource, earlier });
  }

  remove(object: ApiObject): void {
    this.#listed.delete(identityOf(changeOf(this.#kind, object)));
  }

  touch(kind: ResourceKind, object: ApiObject): void {
    if (kind === this.#kind) this.#touched.add(identityOf(changeOf(kind, object)));
  }

  differences(version: string): string[] {
    const differing: string[] = [];
    for (const [identity, listed] of this.#listed) {
      if (listed.resource === undefined) continue;
      const change = toChange(this.#kind, identity);
      const held = this.#resources.get(change);
      if (held === undefined && !this.#store.wants(change)) continue;
      if (
        held === undefined ||
        isOlder(held.metadata.resourceVersion, listed.version) ||
        isUndone(held, listed, version)
      )
        differing.push(identity);
    }
    for (const { metadata } of this.#held()) {
      const identity = identityOf({ kind: this.#kind, ...metadata });
      if (!this.#listed.has(identity) && !isOlder(version, metadata.resourceVersion)) differing.push(identity);
    }
    return differing.filter((identity) => !this.#touched.has(identity));
  }

  finish(version: string, isRewound: boolean): void {
    if (isRewound) this.#store.rewind();
    this.#store.resolveWaiting(this.#kind, { namespace: this.#namespace, version, touched: this.#touched });
    const changes: ResourceChange[] = [];
    try {
      this.#applyListed(version, isRewound, changes);
      const gone = this.#gone(version, isRewound);
      this.#store.dropAll(gone);
      this.#noteAbsent(version);
      changes.push(...gone);
    } finally {
      // Changes in the store must be reported, even if the rest failed: the next list takes them for known.
      this.#store.tell(changes);
    }
  }

  /** @param changes receives objects whose meaning changed */
  #applyListed(version: string, isRewound: boolean, changes: ResourceChange[]): void {
    for (const [identity, listed] of this.#listed) {
      const { resource, earlier } = listed;
      if (resource === undefined) continue;
      const change = toChange(this.#kind, identity);
      const before = this.#resources.get(change);
      if (before === resource) continue;
      // An event deleted it since it was read, or brought it and it waits for its data: either is newer.
      if (before === undefined && this.#touched.has(identity)) continue;
      // No object refers to it any more, although one did when the list was read.
      if (!this.#store.wants(change)) continue;
      // An object that came meanwhile is newer, or as new and with keys that were not wanted when the list was read.
      const isNewer =
        before === undefined || isOlder(before.metadata.resourceVersion, resource.metadata.resourceVersion);
      if (!isNewer && !isRewound && !isUndone(before, listed, version)) continue;
      if (earlier !== undefined) this.#store.observeUndone(this.#kind, earlier);
      if (this.#store.replace(resource, before)) changes.push(change);
    }
  }

  /** Objects that are held and no longer in the list. */
  #gone(version: string, isRewound: boolean): ResourceChange[] {
    const gone: ResourceChange[] = [];
    for (const { metadata } of this.#held()) {
      const change = { kind: this.#kind, namespace: metadata.namespace, name: metadata.name };
      if (this.#listed.has(identityOf(change))) continue;
      // It came after the list was made, by an event or a question of its own.
      if (isOlder(version, metadata.resourceVersion) && !isRewound) continue;
      gone.push(change);
    }
    return gone;
  }

  /** Also for data that is not held: a fetch of it may still bring a response. */
  #noteAbsent(version: string): void {
    if (this.#kind !== "Secret" && this.#kind !== "ConfigMap") return;
    const has = (identity: string) => this.#listed.has(identity);
    this.#store.noteAbsent(this.#kind, { namespace: this.#namespace, version, has });
  }

  drop(): void {
    this.#onDrop();
  }

  *#held(): Generator<AnyResource> {
    for (const resource of this.#resources.all(this.#kind)) {
      if (this.#namespace === undefined || resource.metadata.namespace === this.#namespace) yield resource;
    }
  }
}

/** @param version of the list */
function isUndone(held: AnyResource, listed: ListedObject, version: string): boolean {
  const { resourceVersion } = held.metadata;
  return isOlder(listed.version, resourceVersion) && !isOlder(version, resourceVersion);
}
