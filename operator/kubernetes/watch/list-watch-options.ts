/** The options of a `ListWatch`: the client that it calls and the sink that keeps the objects. */
import type { ApiClient } from "#operator/kubernetes/api/api-client";
import type { ApiObject, ApiResource } from "#operator/kubernetes/api/api-object";
import type { Reachability } from "./reachability.ts";
import type { WatchTimings } from "./timings.ts";
import type { WatchCounters } from "./watch-counters.ts";

/** A list that is being read; nothing changes before it is complete. */
export interface ListCollector {
  add(object: ApiObject): void;
  /** The object was deleted while the list was being read. */
  remove(object: ApiObject): void;
  /** Applies the list: an object that is held and not listed is gone, unless it came after the list. */
  finish(version: string, isRewound: boolean): void;
  /** Objects that the list shows in another version than the one held, and that no event has touched meanwhile. */
  differences(version: string): string[];
  /** Discards the list. */
  drop(): void;
}

export interface ListWatchSink {
  beginList(): ListCollector;
  put(object: ApiObject): void;
  remove(object: ApiObject): void;
}

export interface ListWatchOptions {
  readonly client: Pick<ApiClient, "list" | "watch">;
  readonly resource: ApiResource;
  /** Undefined: all namespaces. */
  readonly namespace: string | undefined;
  readonly fieldSelector?: string | undefined;
  readonly sink: ListWatchSink;
  readonly reachability: Reachability;
  readonly timings: WatchTimings;
  readonly counters: WatchCounters;
  /** Called for every failure, with the next step. */
  readonly onFailure: (error: unknown, what: string) => void;
  /** The API server's versions run from lower numbers than we have seen: it was restored from a backup. */
  readonly onRewind: () => void;
}
