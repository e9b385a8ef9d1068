/**
 * Reads resources from a Kubernetes cluster. It has the same interface as `folder.ts`, the operator's other source.
 *
 * It reads our four kinds first, then the Secrets and ConfigMaps that they name (and Namespaces, where selectors may be
 * used). Listeners are called only after everything has been read once, so that half a cluster never looks like a whole
 * one; from then on each change is reported as it comes. No error empties the resource set. `close` ends all
 * connections.
 */

import type { ApiClient } from "#operator/kubernetes/api/api-client";
import { type ApiObject, compareVersions } from "#operator/kubernetes/api/api-object";
import { ListWatch } from "#operator/kubernetes/watch/list-watch";
import { Reachability } from "#operator/kubernetes/watch/reachability";
import { defaultWatchTimings, type WatchTimings } from "#operator/kubernetes/watch/timings";
import { WatchCounters } from "#operator/kubernetes/watch/watch-counters";
import type { IdentifiedResource } from "#operator/push/versions/resource-uids";
import type { SourcePosition } from "#operator/push/versions/source-progress";
import { everyObject } from "#operator/resources/mutable-resource-set";
import type { OwnKind, ResourceChange, ResourceKind, ResourceSet } from "#operator/resources/resource";
import { watchesBehind } from "#proxy/snapshot/push/resource-versions";
import { ClusterStore } from "./cluster-store.ts";
import { MissingData } from "./missing-data.ts";
import { ownResources, secretFieldSelector, watchedResources } from "./own-resources.ts";

export interface KubernetesSourceOptions {
  readonly client: Pick<ApiClient, "list" | "watch" | "probe" | "onHeard">;
  /** Undefined or empty: all namespaces. */
  readonly namespaces?: readonly string[] | undefined;
  /** Whether Namespaces are watched, which selectors of namespaces need. */
  readonly watchesNamespaces?: boolean;
  readonly timings?: Partial<WatchTimings>;
  /** Receives each object of our own kinds with its status, for the status writer (`ClusterStoreOptions`). */
  readonly onObserved?: (kind: ResourceKind, object: ApiObject, isLatest?: boolean) => void;
  readonly log: { info(message: string): void; warn(message: string): void };
}

const ownKinds: readonly OwnKind[] = ["Account", "Channel", "ModelRoute", "ApiKey"];
/** The same failure is logged once in this time. */
const tellEveryMs = 30_000;

interface WatchOfKind {
  readonly id: string;
  readonly kind: ResourceKind;
  readonly namespace: string | undefined;
  readonly watch: ListWatch;
}

export class KubernetesSource {
  readonly #options: KubernetesSourceOptions;
  readonly #timings: WatchTimings;
  readonly #store: ClusterStore;
  readonly #reachability: Reachability;
  readonly #missing: MissingData;
  readonly #watches: WatchOfKind[] = [];
  readonly #counters = new Map<ResourceKind, WatchCounters>();
  readonly #callbacks = new Set<(changes: readonly ResourceChange[]) => void>();
  readonly #rewindCallbacks = new Set<() => void>();
  readonly #told = new Map<string, number>();
  readonly #closed = Promise.withResolvers<void>();
  readonly #stopHearing: () => void;
  #isSynced = false;
  #isClosed = false;

  constructor(options: KubernetesSourceOptions) {
    this.#options = options;
    this.#timings = { ...defaultWatchTimings, ...options.timings };
    const { client, log } = options;
    this.#reachability = new Reachability({
      probe: (signal) => client.probe({ signal, timeoutMs: this.#timings.probeTimeoutMs }),
      timings: this.#timings,
      onChange: (isReachable) => {
        if (isReachable) log.info("the API server is reachable again");
        else log.warn("the API server is unreachable; the configuration that was read stays in force");
      },
    });
    this.#stopHearing = client.onHeard(() => this.#reachability.heard());
    this.#missing = new MissingData({
      client,
      reachability: this.#reachability,
      timings: this.#timings,
      onFound: (kind, object) => this.#store.put(kind, object),
      relist: (kind) => {
        for (const { kind: own, watch } of this.#watches) if (own === kind) watch.relist("wanted");
      },
      onFailure: (error) => this.#tell("the operator cannot read a Secret or ConfigMap", error, "it tries again"),
    });
    this.#store = new ClusterStore({
      onChange: (changes) => {
        for (const callback of this.#callbacks) callback(changes);
      },
      fetchMissing: (references) => (this.#hasDataWatches ? this.#missing.fetch(references) : Promise.resolve()),
      onObserved: options.onObserved,
    });
  }

  /** All objects as they are now: a live view. */
  current(): ResourceSet {
    return this.#store.resources;
  }

  /** Calls back after every change, once everything was read. @returns a function that ends the listening */
  onChange(callback: (changes: readonly ResourceChange[]) => void): () => void {
    this.#callbacks.add(callback);
    return () => this.#callbacks.delete(callback);
  }

  /** Calls back when the API server was restored from a backup: its versions start anew at lower numbers. */
  onRewind(callback: () => void): () => void {
    this.#rewindCallbacks.add(callback);
    return () => this.#rewindCallbacks.delete(callback);
  }

  /** Everything was read once. */
  get isSynced(): boolean {
    return this.#isSynced;
  }

  /** The one judgement of the API server for all watches, also for watches of other parts. */
  get reachability(): Reachability {
    return this.#reachability;
  }

  get isReachable(): boolean {
    return this.#reachability.isReachable;
  }

  /** Milliseconds since the API server's last sign of life. */
  get silentMs(): number {
    return this.#reachability.silentMs;
  }

  /** The counters of the watches, by kind. */
  get counters(): ReadonlyMap<ResourceKind, WatchCounters> {
    return this.#counters;
  }

  countOf(kind: ResourceKind): number {
    return this.#store.countOf(kind);
  }

  /** How far the watches have come, by `<kind>` or `<kind>/<namespace>`; empty before their first lists. */
  versions(): SourcePosition {
    const seen: Record<string, string> = {};
    const complete: Record<string, string> = {};
    for (const { id, kind, namespace, watch } of this.#watches) {
      // An object that waits for a Secret has not been handed out yet.
      const waiting = this.#store.oldestWaiting(kind, namespace);
      const most = waiting === undefined ? undefined : String(BigInt(waiting) - 1n);
      if (watch.completeVersion !== undefined) complete[id] = least(watch.completeVersion, most);
      if (watch.eventVersion !== undefined) seen[id] = least(watch.eventVersion, most);
    }
    return { seen, complete };
  }

  /**
   * Whether the API server's present version of a kind is older than one that somebody has seen and we have not: it was
   * restored from a backup.
   *
   * @param claimed versions by watch, as `versions()` gives them
   * @throws ApiError when it cannot be asked
   */
  async hasGoneBack(claimed: Readonly<Record<string, string>>): Promise<boolean> {
    const behind = new Set(watchesBehind(this.versions().complete, claimed));
    // Kind by kind, because each may have an etcd of its own with its own versions; one watch suffices for a kind.
    const highest = new Map<ResourceKind, { watch: ListWatch; version: string }>();
    for (const { id, kind, watch } of this.#watches) {
      const version = claimed[id];
      if (version === undefined || !behind.has(id)) continue;
      const known = highest.get(kind);
      if (known === undefined || compareVersions(known.version, version) < 0) highest.set(kind, { watch, version });
    }
    for (const { watch, version } of highest.values()) {
      if (compareVersions(await watch.fetchVersion(), version) < 0) return true;
    }
    return false;
  }

  /**
   * Whether the API server has this very object now.
   *
   * @throws ApiError when it cannot be asked
   */
  async has({ kind, namespace, name, uid }: IdentifiedResource): Promise<boolean> {
    // A list that names no version is always up to date.
    const { items } = await this.#options.client.list(ownResources[kind], {
      namespace,
      fieldSelector: `metadata.name=${name}`,
    });
    return items.some(({ metadata }) => metadata.uid === uid);
  }

  /** Lists every watch again that is behind `claimed`. @param claimed versions by watch, as `versions()` gives them */
  listBehind(claimed: Readonly<Record<string, string>>): void {
    for (const { id, watch } of this.#watches) {
      const version = claimed[id];
      if (version === undefined || watch.completeVersion === undefined) continue;
      if (compareVersions(watch.completeVersion, version) < 0) watch.relist("behind");
    }
  }

  /**
   * Reads everything once and then watches. Waits for as long as the API server is away or refuses.
   *
   * @returns false when it was closed before everything was read
   */
  async start(): Promise<boolean> {
    const { watchesNamespaces = false } = this.#options;
    if (watchesNamespaces) this.#watch("Namespace", [undefined]);
    for (const kind of ownKinds) this.#watch(kind, this.#namespaces);
    await this.#allSynced();
    // Now it is known which Secrets and ConfigMaps are referred to.
    this.#watch("Secret", this.#namespaces);
    this.#watch("ConfigMap", this.#namespaces);
    await this.#allSynced();
    if (this.#isClosed) return false;
    this.#isSynced = true;
    this.#store.open();
    const everything = everyObject(this.#store.resources);
    for (const callback of this.#callbacks) callback(everything);
    return true;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#closed.resolve();
    this.#stopHearing();
    this.#reachability.close();
    this.#missing.close();
    await Promise.all(this.#watches.map(({ watch }) => watch.close()));
  }

  get #namespaces(): readonly (string | undefined)[] {
    const { namespaces = [] } = this.#options;
    return namespaces.length === 0 ? [undefined] : [...new Set(namespaces)];
  }

  /** Before they are listed nothing of them is missing. */
  get #hasDataWatches(): boolean {
    return this.#counters.has("Secret");
  }

  #allSynced(): Promise<unknown> {
    return Promise.race([Promise.all(this.#watches.map(({ watch }) => watch.synced)), this.#closed.promise]);
  }

  #watch(kind: ResourceKind, namespaces: readonly (string | undefined)[]): void {
    if (this.#isClosed) return;
    const counters = new WatchCounters();
    this.#counters.set(kind, counters);
    for (const namespace of namespaces) {
      const watch = new ListWatch({
        client: this.#options.client,
        resource: watchedResources[kind],
        namespace,
        fieldSelector: kind === "Secret" ? secretFieldSelector : undefined,
        sink: this.#store.sinkFor(kind, namespace),
        reachability: this.#reachability,
        timings: this.#timings,
        counters,
        onFailure: (error, what) => this.#tell(`the watch of ${watchedResources[kind].plural} failed`, error, what),
        onRewind: () => {
          for (const callback of this.#rewindCallbacks) callback();
        },
      });
      this.#watches.push({ id: namespace === undefined ? kind : `${kind}/${namespace}`, kind, namespace, watch });
      watch.start();
    }
  }

  /** A failure repeats while its cause lasts; the log has each once in a while. */
  #tell(what: string, error: unknown, next: string): void {
    const message = `${what}: ${error instanceof Error ? error.message : String(error)}; ${next}`;
    const nowMs = performance.now();
    for (const [text, toldAtMs] of this.#told) if (nowMs - toldAtMs > tellEveryMs) this.#told.delete(text);
    if (this.#told.has(message)) return;
    this.#told.set(message, nowMs);
    this.#options.log.warn(message);
  }
}

function least(version: string, most: string | undefined): string {
  return most !== undefined && compareVersions(most, version) < 0 ? most : version;
}
