/**
 * Resources from a Kubernetes cluster: the operator's other source beside `folder.ts`, with the same face.
 *
 * Our four kinds are read first, then the Secrets and ConfigMaps they name (and Namespaces, where selectors may be
 * used); only when everything was read once does anybody hear of it, so that half a cluster never looks like a whole
 * one. From then on each change is told as it comes. No error empties the view; `close` ends all connections.
 */
import type { ApiClient } from "../../kubernetes/api-client.ts";
import type { ApiObject } from "../../kubernetes/api-object.ts";
import { everyObject } from "../../resources/mutable-resource-set.ts";
import type { OwnKind, ResourceChange, ResourceKind, ResourceSet } from "../../resources/resource.ts";
import { ClusterStore } from "./cluster-store.ts";
import { ListWatch } from "./list-watch.ts";
import { MissingData } from "./missing-data.ts";
import { secretFieldSelector, watchedResources } from "./own-resources.ts";
import { Reachability } from "./reachability.ts";
import { defaultWatchTimings, type WatchTimings } from "./timings.ts";
import { WatchCounters } from "./watch-counters.ts";

export interface KubernetesSourceOptions {
  readonly client: ApiClient;
  /** Undefined or empty: all namespaces. */
  readonly namespaces?: readonly string[] | undefined;
  /** Whether Namespaces are watched, which selectors of namespaces need. */
  readonly watchesNamespaces?: boolean;
  readonly timings?: Partial<WatchTimings>;
  /** Each object of our own kinds as it comes, status and all; for whoever writes status. */
  readonly onSeen?: (kind: ResourceKind, object: ApiObject) => void;
  readonly log: { info(message: string): void; warn(message: string): void };
}

/** How far the watch of one kind has come. */
export interface WatchVersion {
  /**
   * Version of the last event or list. Another replica that watches the same kind gets the same events, so it reaches
   * this version too; one whose `seen` is lower is behind.
   */
  readonly event: string;
  /** Everything up to this version is known, bookmarks counted: never less than `event`. */
  readonly seen: string;
}

const ownKinds: readonly OwnKind[] = ["Account", "Channel", "ModelRoute", "ApiKey"];
/** The same failure is told once in this time. */
const tellEveryMs = 30_000;

export class KubernetesSource {
  readonly #options: KubernetesSourceOptions;
  readonly #timings: WatchTimings;
  readonly #store: ClusterStore;
  readonly #reachability: Reachability;
  readonly #missing: MissingData;
  readonly #watches = new Map<string, ListWatch>();
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
        if (isReachable) log.info("the API server answers again");
        else log.warn("the API server does not answer; what was read of it stays in force");
        if (!isReachable) for (const watch of this.#watches.values()) watch.interrupt();
      },
    });
    this.#stopHearing = client.onHeard(() => this.#reachability.heard());
    this.#missing = new MissingData({
      client,
      reachability: this.#reachability,
      timings: this.#timings,
      onFound: (kind, object) => this.#store.put(kind, object),
      relist: (kind) => {
        for (const [id, watch] of this.#watches) if (id.startsWith(`${kind}/`)) watch.relist("wanted");
      },
      onFailure: (error) => this.#tell("a Secret or ConfigMap cannot be read", error, "asking again"),
    });
    this.#store = new ClusterStore({
      onChange: (changes) => {
        for (const callback of this.#callbacks) callback(changes);
      },
      fetchMissing: (references) => (this.#hasDataWatches ? this.#missing.fetch(references) : Promise.resolve()),
      onSeen: options.onSeen,
    });
  }

  /** All objects as they are now: a live view. */
  current(): ResourceSet {
    return this.#store.resources;
  }

  /** Calls back after every change, once everything was read. Returns how to stop that. */
  onChange(callback: (changes: readonly ResourceChange[]) => void): () => void {
    this.#callbacks.add(callback);
    return () => this.#callbacks.delete(callback);
  }

  /** Calls back when the API server was restored from a backup: versions start anew at lower numbers. */
  onRewind(callback: () => void): () => void {
    this.#rewindCallbacks.add(callback);
    return () => this.#rewindCallbacks.delete(callback);
  }

  /** Everything was read once. */
  get isSynced(): boolean {
    return this.#isSynced;
  }

  get isReachable(): boolean {
    return this.#reachability.isReachable;
  }

  /** Milliseconds since the API server last said anything. */
  get silentMs(): number {
    return this.#reachability.silentMs;
  }

  /** What the watches of each kind have seen. */
  get counters(): ReadonlyMap<ResourceKind, WatchCounters> {
    return this.#counters;
  }

  countOf(kind: ResourceKind): number {
    return this.#store.countOf(kind);
  }

  /**
   * How far each watch has come, by `<kind>` or `<kind>/<namespace>`: for the rule that a proxy never goes back in time
   * (`OPERATIONS.md` section 1 rule 12). A watch that is listing is absent.
   */
  versions(): ReadonlyMap<string, WatchVersion> {
    const versions = new Map<string, WatchVersion>();
    for (const [id, { version, eventVersion }] of this.#watches) {
      if (version !== undefined && eventVersion !== undefined) {
        versions.set(id.replace(/\/$/, ""), { event: eventVersion, seen: version });
      }
    }
    return versions;
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
    // Now it is known which of them matter.
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
    await Promise.all([...this.#watches.values()].map((watch) => watch.close()));
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
    return Promise.race([Promise.all([...this.#watches.values()].map(({ synced }) => synced)), this.#closed.promise]);
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
        onFailure: (error, what) => this.#tell(`watching ${watchedResources[kind].plural} failed`, error, what),
        onRewind: () => {
          for (const callback of this.#rewindCallbacks) callback();
        },
      });
      this.#watches.set(`${kind}/${namespace ?? ""}`, watch);
      watch.start();
    }
  }

  /** Failures repeat while their cause lasts; a person needs to read each once. */
  #tell(what: string, error: unknown, next: string): void {
    const message = `${what}: ${error instanceof Error ? error.message : String(error)}; ${next}`;
    const nowMs = performance.now();
    for (const [text, toldAtMs] of this.#told) if (nowMs - toldAtMs > tellEveryMs) this.#told.delete(text);
    if (this.#told.has(message)) return;
    this.#told.set(message, nowMs);
    this.#options.log.warn(message);
  }
}
