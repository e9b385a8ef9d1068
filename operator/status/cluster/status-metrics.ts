/** Metrics of writing status and Events. Labels are closed sets. */
import { Counter, Gauge, type Registry } from "prom-client";
import type { EventResult, EventWriter } from "#operator/status/events/event-writer";
import type { StatusWriter, WriteResult } from "./status-writer.ts";

const results: readonly WriteResult[] = ["written", "conflict", "gone", "invalid", "forbidden", "throttled", "failed"];

const eventResults: readonly EventResult[] = ["created", "counted", "dropped", "failed"];

export function registerStatusMetrics(registry: Registry, writer: StatusWriter, events: EventWriter): void {
  const registers = [registry];
  new Counter({
    name: "tollgate_status_writes_total",
    help: "Writes of status to the API server, by result.",
    labelNames: ["result"],
    registers,
    collect() {
      this.reset();
      for (const result of results) this.inc({ result }, writer.results.get(result) ?? 0);
    },
  });
  new Counter({
    name: "tollgate_events_total",
    help: "Events written by this operator, by result; dropped: too many at once.",
    labelNames: ["result"],
    registers,
    collect() {
      this.reset();
      for (const result of eventResults) this.inc({ result }, events.results.get(result) ?? 0);
    },
  });
  new Gauge({
    name: "tollgate_status_queue_depth",
    help: "Objects whose status waits to be written by this operator.",
    registers,
    collect() {
      this.set(writer.depth);
    },
  });
  new Gauge({
    name: "tollgate_status_oldest_pending_seconds",
    help: "How long the oldest status that waits to be written has waited.",
    registers,
    collect() {
      this.set(writer.oldestMs / 1_000);
    },
  });
}
