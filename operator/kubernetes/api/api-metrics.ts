/** Metrics of calls of the API server. Labels are kinds, verbs and outcomes, never names of objects. */
import { Counter, Histogram, type Registry } from "prom-client";
import type { ApiClient } from "./api-client.ts";

/** @returns a function that ends the counting */
export function registerApiMetrics(registry: Registry, client: ApiClient): () => void {
  const registers = [registry];
  const calls = new Counter({
    name: "tollgate_api_requests_total",
    help: "Calls of the API server, by verb, resource and outcome (HTTP status, or the cause when there was none).",
    labelNames: ["verb", "resource", "outcome"],
    registers,
  });
  const durations = new Histogram({
    name: "tollgate_api_request_duration_seconds",
    help: "Time from a call of the API server to the head of its response.",
    labelNames: ["verb"],
    buckets: [0.005, 0.025, 0.1, 0.5, 1, 5, 15],
    registers,
  });
  return client.onCall(({ verb, resource, outcome, durationMs }) => {
    calls.inc({ verb, resource, outcome });
    durations.observe({ verb }, durationMs / 1_000);
  });
}
