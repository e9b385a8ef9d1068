/**
 * Metrics of the operator's push side. No label names an object, so the number of series does not grow with the
 * configuration.
 */
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { Fleet } from "./fleet.ts";
import type { Publisher } from "./publisher.ts";

/**
 * Registers the metrics; gauges are read at scrape.
 *
 * @param refusedIds objects that the compiler refuses, by wire id; a live view
 * @returns a function that ends the counting.
 */
export function registerPushMetrics(
  registry: Registry,
  publisher: Publisher,
  fleet: Fleet,
  refusedIds: ReadonlySet<string>,
): () => void {
  const registers = [registry];
  const publications = new Counter({
    name: "tollgate_config_publications_total",
    help: "Revisions published.",
    registers,
  });
  const changes = new Counter({
    name: "tollgate_config_changes_total",
    help: "Objects changed in published revisions.",
    registers,
  });
  const convergence = new Histogram({
    name: "tollgate_config_convergence_seconds",
    help: "Time from publication to the acknowledgement of the last ready proxy of this operator.",
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  });
  gauge(registers, "tollgate_config_revision", "Revision last published.", () => publisher.snapshot.revision);
  gauge(
    registers,
    "tollgate_config_least_revision",
    "Revision that every ready proxy of this operator holds.",
    () => fleet.leastRevision,
  );
  gauge(registers, "tollgate_config_keys", "Keys published.", () => publisher.snapshot.keyCount);
  gauge(
    registers,
    "tollgate_config_refused_objects",
    "Objects that the operator refuses: Accepted=False, or not valid on the wire.",
    () => new Set([...refusedIds, ...publisher.problems.keys()]).size,
  );
  gauge(
    registers,
    "tollgate_config_held_back_objects",
    "Objects of which a version waits until connected proxies are upgraded.",
    () => publisher.heldBackCount,
  );
  gauge(registers, "tollgate_fleet_proxies", "Connected proxies.", () => fleet.view().length);
  gauge(registers, "tollgate_fleet_ready_proxies", "Proxies that count for Programmed.", () => fleet.readyCount);
  gauge(
    registers,
    "tollgate_fleet_rejected_objects",
    "Objects that a proxy or the operator itself refuses.",
    () => fleet.rejectedIds().size,
  );
  gauge(registers, "tollgate_fleet_refused_transactions", "Transactions refused as a whole.", () => fleet.refusals);

  /** Publications not yet held by all, oldest first. */
  const open: { readonly revision: number; readonly at: number }[] = [];
  const stopPublications = publisher.onPublish(({ snapshot, changed }) => {
    publications.inc();
    changes.inc(changed.length);
    // Without proxies nothing converges; the list stays short whatever happens.
    if (fleet.ownReadyCount > 0 && open.length < 1_000)
      open.push({ revision: snapshot.revision, at: performance.now() });
  });
  const stopFleet = fleet.onChange(() => {
    const least = fleet.leastRevision;
    while (open[0] !== undefined && open[0].revision <= least) {
      convergence.observe((performance.now() - open[0].at) / 1000);
      open.shift();
    }
    if (fleet.ownReadyCount === 0) open.length = 0;
  });
  return () => {
    stopPublications();
    stopFleet();
  };
}

function gauge(registers: Registry[], name: string, help: string, read: () => number): void {
  const created: Gauge = new Gauge({ name, help, registers, collect: () => created.set(read()) });
}
