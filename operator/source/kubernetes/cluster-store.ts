/**
 * Holds the resources of the cluster, as the compiler sees them. The list-watches fill it.
 *
 * Invariants: an object is removed only by a deletion event or by a complete list without it; a later version never
 * gives way to an earlier one, in whichever order they arrive, except to a list that is newer than both; an object
 * whose meaning did not change counts as unchanged; Secrets and ConfigMaps are kept only as far as an object refers to
 * them. It knows nothing of connections.
 */
import { isDeepStrictEqual } from "node:util";
import type { ApiObject } from "#operator/kubernetes/api/api-object";
import type { ListWatchSink } from "#operator/kubernetes/watch/list-watch-options";
import { MutableResourceSet } from "#operator/resources/mutable-resource-set";
import type { AnyResource, ResourceChange, ResourceKind, ResourceSet } from "#operator/resources/resource";
import { type AbsenceList, type CollectingStore, Collector, type CompleteList } from "./list-collector.ts";
import { changeOf, identityOf, isOlder, keyOf, toChange } from "./object-identity.ts";
import { watchedResources } from "./own-resources.ts";
import { readDataObject, readNamespace, readOwnObject } from "./read-object.ts";
import { KeyParts } from "./share-parts.ts";
import { type DataReference, dataReferencesOf, WantedData } from "./wanted-data.ts";

export interface ClusterStoreOptions {
  /** Receives the objects to reconcile; not called before `open`. */
  readonly onChange: (changes: readonly ResourceChange[]) => void;
  /**
   * Fetches Secrets and ConfigMaps that are referred to and not held, and passes them to `put`. Resolves when they are
   * there, are known not to exist, or the time is over; never rejects.
   */
  readonly fetchMissing: (references: readonly DataReference[]) => Promise<void>;
  /**
   * Receives each object of our own kinds with its status, which the status writer compares with. `isLatest`: the object
   * counts whatever came before, because its later version was undone.
   */
  readonly onObserved?: ((kind: ResourceKind, object: ApiObject, isLatest?: boolean) => void) | undefined;
}

export class ClusterStore implements CollectingStore {
  readonly #options: ClusterStoreOptions;
  readonly #resources = new MutableResourceSet();
  readonly #wanted = new WantedData();
  readonly #keyParts = new KeyParts();
  readonly #collectors = new Set<Collector>();
  /** Versions at which wanted data was deleted or missing in a list, so that an older response does not restore it. */
  readonly #deleted = new Map<string, string>();
  /** Objects that wait for the data they name, by identity; the present version of each stays in force meanwhile. */
  readonly #waiting = new Map<string, AnyResource>();
  #isOpen = false;

  constructor(options: ClusterStoreOptions) {
    this.#options = options;
  }

  get resources(): ResourceSet {
    return this.#resources;
  }

  /** Everything was read once: from now on changes are reported. */
  open(): void {
    this.#isOpen = true;
  }

  /** The lowest version among objects that wait for their Secrets and are not in force yet. */
  oldestWaiting(kind: ResourceKind, namespace: string | undefined): string | undefined {
    let oldest: string | undefined;
    for (const waiting of this.#waiting.values()) {
      const { resourceVersion, namespace: own } = waiting.metadata;
      if (waiting.kind !== kind || (namespace !== undefined && own !== namespace)) continue;
      if (oldest === undefined || isOlder(resourceVersion, oldest)) oldest = resourceVersion;
    }
    return oldest;
  }

  /** How many objects of a kind are held. */
  countOf(kind: ResourceKind): number {
    return this.#resources.countOf(kind);
  }

  /** The sink of the list-watch of a kind, in one namespace or in all. */
  sinkFor(kind: ResourceKind, namespace: string | undefined): ListWatchSink {
    return {
      beginList: () => {
        const collector = new Collector(this, this.#resources, kind, namespace, () =>
          this.#collectors.delete(collector),
        );
        this.#collectors.add(collector);
        return collector;
      },
      put: (object) => {
        this.#touch(kind, object);
        this.put(kind, object);
      },
      remove: (object) => {
        this.#touch(kind, object);
        const change = changeOf(kind, object);
        this.#stopWaiting(keyOf(change));
        const held = this.#resources.get(change);
        if (kind === "Secret" || kind === "ConfigMap") this.#noteDeleted(kind, object);
        if (held === undefined || isOlder(object.metadata.resourceVersion, held.metadata.resourceVersion)) return;
        this.#drop(change);
        this.tell([change]);
      },
    };
  }

  /** Puts one object, from a watch or a fetch, and reports the change. */
  put(kind: ResourceKind, object: ApiObject): void {
    const change = changeOf(kind, object);
    const before = this.#resources.get(change);
    const version = object.metadata.resourceVersion;
    if (before !== undefined && isOlder(version, before.metadata.resourceVersion)) return;
    if (isOlder(version, this.#deleted.get(keyOf(change)))) return;
    this.#stopWaiting(keyOf(change));
    const next = this.read(kind, object, before);
    if (next === undefined) return;
    const missing = this.#isOpen ? dataReferencesOf(next).filter((reference) => !this.#holds(reference)) : [];
    if (missing.length > 0) void this.#putLater(change, next, missing);
    else if (this.replace(next, before)) this.tell([change]);
  }

  /** Puts an object once the Secrets that it names are there, so that exchanging a Secret never leaves a gap. */
  async #putLater(change: ResourceChange, next: AnyResource, missing: readonly DataReference[]): Promise<void> {
    const key = keyOf(change);
    this.#waiting.set(key, next);
    // The data that it names must be kept when it comes.
    this.#wanted.add(dataReferencesOf(next));
    await this.#options.fetchMissing(missing);
    if (this.#waiting.get(key) !== next) return;
    const before = this.#resources.get(change);
    // A whole list may have brought a later version meanwhile.
    const isLate = isOlder(next.metadata.resourceVersion, before?.metadata.resourceVersion);
    const isChanged = !isLate && this.replace(next, before);
    this.#stopWaiting(key);
    if (isChanged) this.tell([change]);
  }

  /** A complete list covers everything up to its version, also waiting objects, unless they came while it was read. */
  resolveWaiting(kind: ResourceKind, { namespace, version, touched }: CompleteList): void {
    for (const [key, { kind: own, metadata }] of this.#waiting) {
      if (own !== kind || (namespace !== undefined && metadata.namespace !== namespace)) continue;
      if (touched.has(identityOf({ kind, ...metadata }))) continue;
      if (!isOlder(version, metadata.resourceVersion)) this.#stopWaiting(key);
    }
  }

  #stopWaiting(key: string): void {
    const waiting = this.#waiting.get(key);
    if (waiting === undefined) return;
    this.#waiting.delete(key);
    this.#release(dataReferencesOf(waiting));
  }

  /** The part of an object that is kept; undefined when no object refers to it. */
  read(kind: ResourceKind, object: ApiObject, before: AnyResource | undefined): AnyResource | undefined {
    switch (kind) {
      case "Namespace":
        return readNamespace(object);
      case "Secret":
      case "ConfigMap": {
        const { namespace = "", name } = object.metadata;
        const keys = this.#wanted.keysOf(kind, `${namespace}/${name}`);
        return keys && readDataObject(kind, object, keys);
      }
      default:
        this.#options.onObserved?.(kind, object);
        return this.#share(readOwnObject(kind, watchedResources[kind], object, before));
    }
  }

  wants({ kind, namespace, name }: ResourceChange): boolean {
    if (kind !== "Secret" && kind !== "ConfigMap") return true;
    return this.#wanted.isWanted(kind, `${namespace}/${name}`);
  }

  #share(resource: AnyResource | undefined): AnyResource | undefined {
    return resource?.kind === "ApiKey" ? this.#keyParts.share(resource) : resource;
  }

  /** Puts a resource in its place. @returns whether its meaning changed */
  replace(next: AnyResource, before: AnyResource | undefined): boolean {
    if ("spec" in next) this.#refer(before, next);
    if (before === undefined) {
      this.#resources.set(next);
      return true;
    }
    // A status may name the version of a Secret: any new one counts.
    const isSame = next.kind === "Secret" ? false : isSameMeaning(before, next);
    // The compiler recognises unchanged objects by identity.
    this.#resources.set(isSame ? { ...before, metadata: { ...next.metadata, labels: before.metadata.labels } } : next);
    return !isSame;
  }

  /** Forgets objects that a whole list no longer shows. */
  dropAll(changes: readonly ResourceChange[]): void {
    for (const change of changes) {
      this.#stopWaiting(keyOf(change));
      this.#drop(change);
    }
  }

  noteAbsent(kind: "Secret" | "ConfigMap", { namespace, version, has }: AbsenceList): void {
    const prefix = namespace === undefined ? "" : `${namespace}/`;
    for (const identity of this.#wanted.identities(kind)) {
      if (identity.startsWith(prefix) && !has(identity)) this.#noteGone(kind, identity, version);
    }
  }

  observeUndone(kind: ResourceKind, object: ApiObject): void {
    if (kind !== "Namespace" && kind !== "Secret" && kind !== "ConfigMap")
      this.#options.onObserved?.(kind, object, true);
  }

  /** Versions start anew, at lower numbers. */
  rewind(): void {
    this.#deleted.clear();
  }

  tell(changes: readonly ResourceChange[]): void {
    if (this.#isOpen && changes.length > 0) this.#options.onChange(changes);
  }

  #drop(change: ResourceChange): void {
    const before = this.#resources.get(change);
    if (before !== undefined && "spec" in before) this.#refer(before, undefined);
    this.#resources.delete(change);
  }

  /** Keeps count of the references to data. */
  #refer(before: AnyResource | undefined, next: AnyResource | undefined): void {
    const old = dataReferencesOf(before);
    const references = dataReferencesOf(next);
    if (old.length === 0 && references.length === 0) return;
    if (isDeepStrictEqual(old, references)) return;
    const missing = references.filter((reference) => !this.#holds(reference));
    // Add the new references first: data that both versions name must not be dropped in between.
    this.#wanted.add(references);
    this.#release(old);
    if (missing.length > 0) void this.#options.fetchMissing(missing);
  }

  #release(references: readonly DataReference[]): void {
    for (const { kind, identity } of this.#wanted.remove(references)) {
      this.#resources.delete(toChange(kind, identity));
      this.#deleted.delete(`${kind}/${identity}`);
    }
  }

  /** Whether every key needed is held already, or its absence known. */
  #holds({ kind, identity, keys }: DataReference): boolean {
    const map = kind === "Secret" ? this.#resources.secrets : this.#resources.configMaps;
    const held = map.get(identity);
    return held !== undefined && keys.every((key) => held.data.get(key) !== undefined);
  }

  #noteDeleted(kind: "Secret" | "ConfigMap", object: ApiObject): void {
    const { namespace = "", name, resourceVersion } = object.metadata;
    const identity = `${namespace}/${name}`;
    if (resourceVersion !== undefined && this.#wanted.isWanted(kind, identity))
      this.#noteGone(kind, identity, resourceVersion);
  }

  #noteGone(kind: "Secret" | "ConfigMap", identity: string, version: string): void {
    const key = `${kind}/${identity}`;
    // A deletion that came by an event may be newer than the list.
    if (!isOlder(version, this.#deleted.get(key))) this.#deleted.set(key, version);
  }

  #touch(kind: ResourceKind, object: ApiObject): void {
    for (const collector of this.#collectors) collector.touch(kind, object);
  }
}

/** A new version with the same meaning: only status, annotations or unused keys of a Secret differ. */
function isSameMeaning(before: AnyResource, next: AnyResource): boolean {
  if (before.metadata.uid !== next.metadata.uid || before.metadata.generation !== next.metadata.generation)
    return false;
  if (!isDeepStrictEqual(before.metadata.labels, next.metadata.labels)) return false;
  if (before.metadata.isDeleting !== next.metadata.isDeleting) return false;
  if (!isDeepStrictEqual(before.metadata.finalizers, next.metadata.finalizers)) return false;
  if ("data" in before) return "data" in next && before.data.equals(next.data);
  if (!("spec" in before) && !("spec" in next)) return invalidOf(before) === invalidOf(next);
  if (!("spec" in before) || !("spec" in next)) return false;
  return before.invalid === next.invalid && isDeepStrictEqual(before.spec, next.spec);
}

function invalidOf(resource: AnyResource): string | undefined {
  return "invalid" in resource ? resource.invalid : undefined;
}
