/**
 * Metrics of the watches (docs/design/operations.md 1.3), read from plain counters at scrape. Labels are kinds.
 */
import { Counter, Gauge, type Registry } from "prom-client";
import type { WatchCounters } from "#operator/kubernetes/watch/watch-counters";
import type { ResourceKind } from "#operator/resources/resource";
import type { KubernetesSource } from "./kubernetes-source.ts";
import { watchedResources } from "./own-resources.ts";

export function registerWatchMetrics(registry: Registry, source: KubernetesSource): void {
  const registers = [registry];
  gauge("tollgate_watch_last_event_age_seconds", "Time since the last event or bookmark of a watch.", (counters) => {
    return counters.lastEventAgeMs === undefined ? undefined : counters.lastEventAgeMs / 1_000;
  });
  gauge("tollgate_watch_objects", "Objects held.", (_counters, kind) => source.countOf(kind));
  counter("tollgate_watch_bytes_total", "Bytes of watches read.", (counters) => counters.bytes);
  counter(
    "tollgate_watch_comparisons_total",
    "Full lists compared with the objects held.",
    ({ comparisons }) => comparisons,
  );
  counter(
    "tollgate_watch_differences_total",
    "Objects that differed between a full list and the watch. Must stay 0.",
    ({ differences }) => differences,
  );
  labelled("tollgate_watch_events_total", "Events read, by type.", "type", ({ events }) => events);
  labelled("tollgate_watch_relists_total", "Full lists applied, by reason.", "reason", ({ relists }) => relists);
  labelled(
    "tollgate_watch_failures_total",
    "Lists and watches that failed, by HTTP status or kind of failure; unreadable counts decode errors.",
    "cause",
    ({ failures }) => failures,
  );
  new Gauge({
    name: "tollgate_api_server_silence_seconds",
    help: "Time since the last sign of life of the API server.",
    registers,
    collect() {
      this.set(source.silentMs / 1_000);
    },
  });
  new Gauge({
    name: "tollgate_api_server_reachable",
    help: "0 while the API server is unreachable.",
    registers,
    collect() {
      this.set(source.isReachable ? 1 : 0);
    },
  });

  function gauge(
    name: string,
    help: string,
    read: (counters: WatchCounters, kind: ResourceKind) => number | undefined,
  ) {
    new Gauge({
      name,
      help,
      labelNames: ["resource"],
      registers,
      collect() {
        for (const [kind, counters] of source.counters) {
          const value = read(counters, kind);
          if (value !== undefined) this.set({ resource: watchedResources[kind].plural }, value);
        }
      },
    });
  }

  function counter(name: string, help: string, read: (counters: WatchCounters) => number): void {
    new Counter({
      name,
      help,
      labelNames: ["resource"],
      registers,
      collect() {
        this.reset();
        for (const [kind, counters] of source.counters)
          this.inc({ resource: watchedResources[kind].plural }, read(counters));
      },
    });
  }

  function labelled(
    name: string,
    help: string,
    label: string,
    read: (counters: WatchCounters) => ReadonlyMap<string, number>,
  ) {
    new Counter({
      name,
      help,
      labelNames: ["resource", label],
      registers,
      collect() {
        this.reset();
        for (const [kind, counters] of source.counters) {
          for (const [value, count] of read(counters))
            this.inc({ resource: watchedResources[kind].plural, [label]: value }, count);
        }
      },
    });
  }
}
