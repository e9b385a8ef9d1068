/**
 * Lists the objects of one kind and then watches them, as controllers do: it passes every change to a sink and lists
 * again when the watch can no longer be trusted.
 *
 * Invariants: the sink changes only by events or by a complete list; a version that is known never goes back, except
 * when the API server was restored from a backup; every failure is counted, reported and followed by a wait. Called by
 * `source/kubernetes/kubernetes-source.ts` and `installation/ready-pods.ts`.
 */
import { ApiError, isUnreachable } from "#operator/kubernetes/api/api-error";
import { compareVersions } from "#operator/kubernetes/api/api-object";
import { Backoff, pause } from "./backoff.ts";
import type { ListCollector, ListWatchOptions } from "./list-watch-options.ts";
import { readPages } from "./read-pages.ts";
import { Resync } from "./resync.ts";
import type { AskedFor, RelistReason } from "./watch-counters.ts";
import type { WatchEvent } from "./watch-events.ts";

/** After a watch that lived shorter than this, the next one waits. */
const shortWatchMs = 5_000;
/** Waits of watches that the server ends early, but cleanly, grow to no more than this. */
const earlyEndMaxMs = 5_000;
/**
 * The longest wait beyond a server's Retry-After, which a server sends while its store is starting: with the whole
 * backoff, ten thousand objects took half a minute to be seen after an outage (docs/design/operations.md T12: 5 s).
 */
const askedAgainMaxMs = 1_500;
/**
 * Aborts a watch in favour of a list that was asked for. The error itself carries this fact, and no state that lasts until
 * the list is complete: a failure while the list is read is an ordinary failure, with an ordinary wait.
 */
const listedAgain = new ApiError("The watch ends for a new list.", { code: "refused" });

export class ListWatch {
  readonly #options: ListWatchOptions;
  readonly #stop = new AbortController();
  readonly #backoff: Backoff;
  readonly #earlyEnds: Backoff;
  readonly #synced = Promise.withResolvers<void>();
  /** Version up to which everything is known; undefined: a list is needed. */
  #version: string | undefined;
  /** The same, but kept while a list is needed. */
  #completeVersion: string | undefined;
  /** The highest version seen, which a restored server may fall behind. */
  #highest: string | undefined;
  #lastEventVersion: string | undefined;
  #relistReason: RelistReason = "first";
  /** The list under way may have passed a wanted object: another list follows it. */
  #isWantedAgain = false;
  /**
   * A list that came as a stream ended before its end: so the API server lets go of a reader that is slower than changes
   * come. Measured with ten thousand objects: up to eight times one after the other, so the next list comes in pages.
   */
  #wasCutShort = false;
  /** The server was away: it may not be the one it was. */
  #isDoubtful = false;
  #isStreamingOffered = true;
  #watching: AbortController | undefined;
  readonly #resync: Resync;
  #running: Promise<void> | undefined;
  #stopListening = () => {};

  constructor(options: ListWatchOptions) {
    this.#options = options;
    const { backoffMinMs, backoffMaxMs } = options.timings;
    this.#backoff = new Backoff(backoffMinMs, backoffMaxMs);
    this.#earlyEnds = new Backoff(backoffMinMs, Math.min(earlyEndMaxMs, backoffMaxMs));
    this.#resync = new Resync({ ...options, isListed: () => this.#version !== undefined });
  }

  /** Resolves when everything was read once. */
  get synced(): Promise<void> {
    return this.#synced.promise;
  }

  /** Everything up to this version is known, including bookmarks; undefined before the first list. */
  get completeVersion(): string | undefined {
    return this.#completeVersion;
  }

  /** Version of the last list or event, without bookmarks: every replica with the same events reaches it too. */
  get eventVersion(): string | undefined {
    return this.#lastEventVersion;
  }

  start(): void {
    this.#stopListening = this.#options.reachability.onLost(() => this.#interrupt());
    this.#running ??= this.#run();
    this.#resync.start();
  }

  /**
   * Lists again now, for one of two reasons. `wanted`: many objects are wanted at once; if a list is being read, another
   * one follows it. `behind`: a proxy has seen more than this watch, which would learn of it with the next bookmark only,
   * minutes later; if a list is being read, the proxy asks again.
   */
  relist(reason: AskedFor): void {
    if (this.#version === undefined) {
      if (reason === "wanted") this.#isWantedAgain = true;
      return;
    }
    this.#forget(reason);
    this.#watching?.abort(listedAgain);
  }

  /**
   * Aborts the watch because the API server is unreachable; another watch follows once it is back. The server may come
   * back with a restored backup whose versions have passed ours, and no event tells of that.
   */
  #interrupt(): void {
    this.#resync.resyncSoon();
    this.#watching?.abort(new ApiError("The API server is unreachable.", { code: "unreachable" }));
  }

  async close(): Promise<void> {
    this.#stopListening();
    this.#stop.abort();
    this.#resync.close();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const begunAtMs = performance.now();
      try {
        if (this.#isDoubtful) await this.#checkForRewind();
        const listsInPages = !this.#isStreamingOffered || this.#wasCutShort;
        // A list may be requested while one is read, and a watch without a version would be a streaming list.
        while (this.#version === undefined && listsInPages) await this.#listInPages();
        // A signal that is aborted already would tell the watch nothing.
        if (signal.aborted) return;
        await this.#watch();
        if (performance.now() - begunAtMs >= shortWatchMs) this.#earlyEnds.reset();
        else await pause(this.#earlyEnds.next(), signal);
      } catch (error) {
        if (signal.aborted) return;
        if (performance.now() - begunAtMs >= this.#options.timings.backoffMaxMs) this.#backoff.reset();
        await this.#recover(error);
      }
    }
  }

  /** Decides whether a failure needs another watch or a whole list, and waits. */
  async #recover(error: unknown): Promise<void> {
    const { reachability, counters } = this.#options;
    const { signal } = this.#stop;
    if (error === listedAgain) return;
    if (!(error instanceof ApiError)) {
      // A fault of the operator: the objects held stay, and the next list may succeed.
      this.#forget("failure");
      this.#options.onFailure(error, "it lists again");
      await pause(this.#backoff.next(), signal);
      return;
    }
    counters.noteFailure(error);
    if (isUnreachable(error)) {
      this.#options.onFailure(error, "it waits for the API server");
      await reachability.confirm(signal);
      this.#isDoubtful = true;
      // All watches were waiting for this.
      await pause(Math.random() * this.#options.timings.backoffMinMs, signal);
      return;
    }
    if (error.code === "silent") this.#forget("silent");
    else if (error.code === "unreadable") this.#forget("unreadable");
    else if (error.status === 410) {
      // 410 is a response and no failure, so earlier failures are over. A list that expires repeatedly is another matter.
      if (this.#version !== undefined) this.#backoff.reset();
      this.#forget("expired");
    } else if (error.isEvent) this.#forget("error");
    // A version from the future, most of all.
    else if (error.status === 504 || error.status === 500) this.#isDoubtful = true;
    if (this.#isStreamingRefused(error)) return;
    this.#options.onFailure(error, this.#version === undefined ? "it lists again" : "it watches again");
    await pause(this.#waitAfter(error), signal);
  }

  #waitAfter({ retryAfterMs }: ApiError): number {
    const { backoffMaxMs } = this.#options.timings;
    if (retryAfterMs === undefined) return this.#backoff.next();
    return this.#backoff.next(Math.min(retryAfterMs, backoffMaxMs), askedAgainMaxMs);
  }

  /** Servers without streaming lists refuse the request as invalid: then the list comes in pages. */
  #isStreamingRefused({ status }: ApiError): boolean {
    if (this.#version !== undefined || !this.#isStreamingOffered) return false;
    if (status !== 400 && status !== 422) return false;
    this.#isStreamingOffered = false;
    return true;
  }

  #forget(reason: RelistReason): void {
    if (this.#version !== undefined) this.#relistReason = reason;
    this.#version = undefined;
    this.#resync.abort();
  }

  /**
   * The server's present version of what is watched: one object of a list is enough to learn it, and a list that names no
   * version is always up to date.
   *
   * @throws ApiError when it cannot be asked
   */
  async fetchVersion(): Promise<string> {
    const { client, resource, namespace } = this.#options;
    const { signal } = this.#stop;
    const { resourceVersion } = await client.list(resource, { namespace, limit: 1, signal, timeoutMs: 10_000 });
    return resourceVersion;
  }

  async #checkForRewind(): Promise<void> {
    const version = await this.fetchVersion();
    this.#isDoubtful = false;
    if (this.#highest !== undefined && compareVersions(version, this.#highest) < 0) this.#forget("rewound");
  }

  /** Objects that were wanted before a list begins are in it. */
  #beginList(): ListCollector {
    this.#isWantedAgain = false;
    return this.#options.sink.beginList();
  }

  async #listInPages(): Promise<void> {
    const collector = this.#beginList();
    try {
      const version = await readPages(this.#options, collector, this.#stop.signal);
      this.#finishList(collector, version);
    } finally {
      collector.drop();
    }
  }

  #finishList(collector: ListCollector, version: string): void {
    const isRewound = this.#highest !== undefined && compareVersions(version, this.#highest) < 0;
    collector.finish(version, isRewound);
    this.#version = version;
    this.#completeVersion = version;
    this.#highest = version;
    this.#lastEventVersion = version;
    this.#resync.noteListed();
    this.#options.counters.noteRelist(isRewound ? "rewound" : this.#relistReason);
    this.#relistReason = "expired";
    this.#backoff.reset();
    this.#wasCutShort = false;
    if (isRewound) this.#options.onRewind();
    this.#synced.resolve();
    if (this.#isWantedAgain) this.#forget("wanted");
  }

  /** Watches from the version known; without one, and where it is offered, the watch begins with the whole list. */
  async #watch(): Promise<void> {
    const { client, resource, namespace, fieldSelector, timings, counters } = this.#options;
    let collector = this.#version === undefined ? this.#beginList() : undefined;
    const watching = new AbortController();
    const onStop = () => watching.abort();
    this.#stop.signal.addEventListener("abort", onStop, { once: true });
    this.#watching = watching;
    const { serverTimeoutMinMs, serverTimeoutMaxMs, bookmarkEveryMs, idleMs } = timings;
    const timeoutMs = serverTimeoutMinMs + Math.random() * (serverTimeoutMaxMs - serverTimeoutMinMs);
    try {
      const events = client.watch(resource, {
        namespace,
        fieldSelector,
        resourceVersion: this.#version,
        sendInitialEvents: collector !== undefined,
        timeoutSeconds: Math.ceil(timeoutMs / 1_000),
        idleMs: bookmarkEveryMs + idleMs,
        signal: watching.signal,
        onBytes: (count) => counters.noteBytes(count),
      });
      for await (const event of events) {
        // An event that was on its way would seem to be the requested list.
        watching.signal.throwIfAborted();
        counters.noteEvent(event.type);
        if (collector === undefined) this.#apply(event);
        else if (event.type === "BOOKMARK") {
          if (!event.isInitialEnd) continue;
          this.#finishList(collector, event.resourceVersion);
          collector.drop();
          collector = undefined;
          if (this.#isWantedAgain) throw listedAgain;
        } else if (event.type === "DELETED") collector.remove(event.object);
        else collector.add(event.object);
      }
      this.#wasCutShort = collector !== undefined;
    } finally {
      collector?.drop();
      this.#stop.signal.removeEventListener("abort", onStop);
    }
  }

  #apply(event: WatchEvent): void {
    const { sink } = this.#options;
    if (event.type === "BOOKMARK") {
      if (this.#highest !== undefined && compareVersions(event.resourceVersion, this.#highest) < 0) {
        // A restored server accepts a version from its future and then keeps silent until it gets there.
        this.#forget("rewound");
        throw new ApiError("The API server's versions went back.", { code: "refused" });
      }
      this.#advance(event.resourceVersion);
      return;
    }
    if (event.type === "DELETED") sink.remove(event.object);
    else sink.put(event.object);
    const { resourceVersion } = event.object.metadata;
    if (resourceVersion === undefined) return;
    this.#lastEventVersion = resourceVersion;
    this.#advance(resourceVersion);
  }

  #advance(version: string): void {
    this.#version = version;
    this.#completeVersion = version;
    if (this.#highest === undefined || compareVersions(version, this.#highest) > 0) this.#highest = version;
  }
}
