/**
 * Fetches Secrets and ConfigMaps that were skipped when they were listed, because no object referred to them then.
 *
 * It fetches a few at a time; when many are missing, it asks for a whole list, which is cheaper. A failed fetch is
 * tried again until the API server has responded, and it delays no other one: in a namespace whose Role is gone every
 * fetch fails, for as long as people there like.
 */
import { setMaxListeners } from "node:events";
import type { ApiClient } from "#operator/kubernetes/api/api-client";
import { isUnreachable } from "#operator/kubernetes/api/api-error";
import type { ApiObject } from "#operator/kubernetes/api/api-object";
import { Backoff, pause } from "#operator/kubernetes/watch/backoff";
import type { Reachability } from "#operator/kubernetes/watch/reachability";
import type { WatchTimings } from "#operator/kubernetes/watch/timings";
import { secretFieldSelector, watchedResources } from "./own-resources.ts";
import type { DataReference } from "./wanted-data.ts";

export interface MissingDataOptions {
  readonly client: Pick<ApiClient, "list">;
  readonly reachability: Reachability;
  readonly timings: WatchTimings;
  readonly onFound: (kind: DataReference["kind"], object: ApiObject) => void;
  /** Asks for a whole list; one that is being read does not count, because it may have passed the missing objects. */
  readonly relist: (kind: DataReference["kind"]) => void;
  readonly onFailure: (error: unknown) => void;
}

interface Wanted {
  readonly reference: DataReference;
  readonly done: PromiseWithResolvers<void>;
  readonly backoff: Backoff;
}

const atOnceMax = 4;
/** With more of them waiting a list is asked for instead. */
const waitingMax = 100;

export class MissingData {
  readonly #options: MissingDataOptions;
  readonly #stop = new AbortController();
  readonly #waiting = new Map<string, Wanted>();
  /** Fetches that failed, until they wait again. */
  readonly #failed = new Map<string, Wanted>();
  #busy = 0;

  constructor(options: MissingDataOptions) {
    this.#options = options;
    // Every failed fetch waits for the API server.
    setMaxListeners(0, this.#stop.signal);
  }

  /** Resolves when all are there or known not to exist, or after `holdBackMs`; never rejects. */
  async fetch(references: readonly DataReference[]): Promise<void> {
    const fetches = references.map((reference) => this.#fetchOne(reference));
    const given = new AbortController();
    await Promise.race([Promise.all(fetches), pause(this.#options.timings.holdBackMs, given.signal)]);
    given.abort();
  }

  close(): void {
    this.#stop.abort();
    for (const { done } of [...this.#waiting.values(), ...this.#failed.values()]) done.resolve();
    this.#waiting.clear();
    this.#failed.clear();
  }

  #fetchOne(reference: DataReference): Promise<void> {
    const key = `${reference.kind}/${reference.identity}`;
    let entry = this.#waiting.get(key) ?? this.#failed.get(key);
    if (entry === undefined) {
      const { backoffMinMs, backoffMaxMs } = this.#options.timings;
      entry = { reference, done: Promise.withResolvers(), backoff: new Backoff(backoffMinMs, backoffMaxMs) };
      this.#waiting.set(key, entry);
    }
    if (this.#waiting.size > waitingMax) this.#listInstead();
    else this.#work();
    return entry.done.promise;
  }

  #listInstead(): void {
    const entries = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const kind of new Set(entries.map(({ reference }) => reference.kind))) this.#options.relist(kind);
    for (const { done } of entries) done.resolve();
  }

  #work(): void {
    while (this.#busy < atOnceMax) {
      const [next] = this.#waiting;
      if (next === undefined) return;
      const [key, wanted] = next;
      this.#waiting.delete(key);
      this.#busy += 1;
      void this.#ask(wanted.reference).then((failure) => {
        this.#busy -= 1;
        if (failure === undefined) wanted.done.resolve();
        else void this.#askAgain(key, wanted, failure);
        this.#work();
      });
    }
  }

  /** @returns the cause of a failure */
  async #ask({ kind, identity }: DataReference): Promise<{ readonly cause: unknown } | undefined> {
    const { client, onFound } = this.#options;
    const { signal } = this.#stop;
    const [namespace, name = ""] = identity.split("/");
    try {
      // A list of one object, because we may list anyway. When it does not exist, the watch brings it once it is created.
      const fieldSelector = [`metadata.name=${name}`, ...(kind === "Secret" ? [secretFieldSelector] : [])].join();
      const { items } = await client.list(watchedResources[kind], { namespace, fieldSelector, signal });
      for (const object of items) onFound(kind, object);
      return undefined;
    } catch (cause) {
      return { cause };
    }
  }

  async #askAgain(key: string, wanted: Wanted, { cause }: { readonly cause: unknown }): Promise<void> {
    const { reachability, onFailure } = this.#options;
    const { signal } = this.#stop;
    if (signal.aborted) {
      wanted.done.resolve();
      return;
    }
    onFailure(cause);
    this.#failed.set(key, wanted);
    if (isUnreachable(cause)) await reachability.confirm(signal);
    await pause(wanted.backoff.next(), signal);
    if (signal.aborted || !this.#failed.delete(key)) return;
    this.#waiting.set(key, wanted);
    this.#work();
  }
}
