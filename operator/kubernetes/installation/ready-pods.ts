/**
 * Watches the proxy pods that are ready for traffic: `Programmed` also counts ready pods that never connected
 * (docs/design/configuration.md 3.11).
 *
 * A terminating pod no longer counts, and a pod that is not ready does not count yet. Pods that exist without being
 * ready may reconnect with an old version (docs/design/configuration.md 3.3), so they are known too.
 */
import type { ApiClient } from "#operator/kubernetes/api/api-client";
import { type ApiObject, isRecord, podResource } from "#operator/kubernetes/api/api-object";
import type { ExpectedProxies } from "#operator/kubernetes/installation/expected-proxies";
import { ListWatch } from "#operator/kubernetes/watch/list-watch";
import type { ListCollector, ListWatchSink } from "#operator/kubernetes/watch/list-watch-options";
import type { Reachability } from "#operator/kubernetes/watch/reachability";
import type { WatchTimings } from "#operator/kubernetes/watch/timings";
import { WatchCounters } from "#operator/kubernetes/watch/watch-counters";

export interface ReadyPodsOptions {
  readonly client: ApiClient;
  readonly namespace: string;
  /** Labels that all proxy pods bear, and no others. */
  readonly labels: Readonly<Record<string, string>>;
  readonly reachability: Reachability;
  readonly timings: WatchTimings;
  readonly log: { warn(message: string): void };
}

export class ReadyPods implements ExpectedProxies {
  readonly counters = new WatchCounters();
  readonly #labels: Readonly<Record<string, string>>;
  readonly #watch: ListWatch;
  readonly #listeners = new Set<() => void>();
  readonly #ready = new Set<string>();
  readonly #present = new Set<string>();
  #isListed = false;

  constructor({ client, namespace, labels, reachability, timings, log }: ReadyPodsOptions) {
    this.#labels = labels;
    this.#watch = new ListWatch({
      client,
      resource: podResource,
      namespace,
      sink: this.#sink(),
      reachability,
      timings,
      counters: this.counters,
      onFailure: (error, what) => log.warn(`the operator cannot watch the proxy pods (${textOf(error)}): ${what}`),
      onRewind: () => {},
    });
  }

  get ready(): ReadonlySet<string> | undefined {
    return this.#isListed ? this.#ready : undefined;
  }

  get present(): ReadonlySet<string> | undefined {
    return this.#isListed ? this.#present : undefined;
  }

  start(): void {
    this.#watch.start();
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.#listeners.clear();
    await this.#watch.close();
  }

  #sink(): ListWatchSink {
    return {
      beginList: () => this.#beginList(),
      put: (pod) => this.#put(pod.metadata.name, isPresentProxy(pod, this.#labels), isReadyProxy(pod, this.#labels)),
      remove: (pod) => this.#put(pod.metadata.name, false, false),
    };
  }

  #beginList(): ListCollector {
    /** Whether each is ready. */
    const listed = new Map<string, boolean>();
    return {
      add: (pod) => {
        if (isPresentProxy(pod, this.#labels)) listed.set(pod.metadata.name, isReadyProxy(pod, this.#labels));
      },
      remove: (pod) => listed.delete(pod.metadata.name),
      finish: () => {
        this.#isListed = true;
        for (const name of this.#present) if (!listed.has(name)) this.#note(name, false, false);
        for (const [name, isReady] of listed) this.#note(name, true, isReady);
        this.#tell();
      },
      // Readiness changes all the time: a difference between list and events only tells which came first.
      differences: () => [],
      drop: () => listed.clear(),
    };
  }

  #put(name: string, isPresent: boolean, isReady: boolean): void {
    if (this.#present.has(name) === isPresent && this.#ready.has(name) === isReady) return;
    this.#note(name, isPresent, isReady);
    this.#tell();
  }

  #note(name: string, isPresent: boolean, isReady: boolean): void {
    if (isPresent) this.#present.add(name);
    else this.#present.delete(name);
    if (isReady) this.#ready.add(name);
    else this.#ready.delete(name);
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** Whether a pod is one of the proxies and is neither finished nor terminating. */
export function isPresentProxy({ metadata, status }: ApiObject, labels: Readonly<Record<string, string>>): boolean {
  if (metadata.deletionTimestamp !== undefined) return false;
  if (isRecord(status) && (status["phase"] === "Succeeded" || status["phase"] === "Failed")) return false;
  return Object.entries(labels).every(([name, value]) => metadata.labels?.[name] === value);
}

/** Whether a pod is one of the proxies and ready for traffic. */
export function isReadyProxy(pod: ApiObject, labels: Readonly<Record<string, string>>): boolean {
  const { status } = pod;
  if (!isPresentProxy(pod, labels)) return false;
  const conditions = isRecord(status) ? status["conditions"] : undefined;
  if (!Array.isArray(conditions)) return false;
  return conditions.some(
    (condition: unknown) => isRecord(condition) && condition["type"] === "Ready" && condition["status"] === "True",
  );
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : "unknown";
}
