/** What the dashboards show. A test compares every metric named here with a scrape. */

export interface Panel {
  readonly title: string;
  /** As Grafana names it. */
  readonly unit: string;
  /** Expression and legend. */
  readonly queries: readonly (readonly [expression: string, legend: string])[];
  /** One number instead of lines. */
  readonly isNumber?: boolean;
}

export interface Dashboard {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly panels: readonly Panel[];
}

const where = 'namespace=~"$namespace"';
const rate = (metric: string, labels = ""): string => `rate(${metric}{${where}${labels}}[$__rate_interval])`;

/** Lines of the median and of the slowest hundredth. */
function quantiles(metric: string, by: string, labels = ""): Panel["queries"] {
  return [0.5, 0.99].map((quantile) => [
    `histogram_quantile(${quantile}, sum by (le, ${by}) (${rate(`${metric}_bucket`, labels)}))`,
    `p${quantile * 100} {{${by}}}`,
  ]);
}

const overview: Dashboard = {
  name: "overview",
  title: "Overview",
  description: "Rate, errors and duration of calls, by wire format.",
  panels: [
    {
      title: "Calls by format",
      unit: "reqps",
      queries: [[`sum by (format) (${rate("tollgate_requests_total")})`, "{{format}}"]],
    },
    {
      title: "Calls that did not end well",
      unit: "reqps",
      queries: [[`sum by (outcome) (${rate("tollgate_requests_total", ',outcome!="ok"')})`, "{{outcome}}"]],
    },
    {
      title: "Part of failures that are not the caller's",
      unit: "percentunit",
      queries: [
        [
          `sum(${rate("tollgate_requests_total", ',outcome=~"no_available_channel|channel_refused|upstream_.*|cut|internal|overloaded"')}) / sum(${rate("tollgate_requests_total")})`,
          "failed",
        ],
      ],
    },
    { title: "Duration", unit: "s", queries: quantiles("tollgate_request_duration_seconds", "format") },
    { title: "The gateway's own part", unit: "s", queries: quantiles("tollgate_gateway_overhead_seconds", "format") },
    {
      title: "In flight",
      unit: "short",
      queries: [[`sum by (pod) (tollgate_requests_in_flight{${where}})`, "{{pod}}"]],
    },
    {
      title: "Refused by quota, rate or balance",
      unit: "reqps",
      queries: [
        [`sum by (decision) (${rate("tollgate_quota_decisions_total", ',decision!="reserved"')})`, "{{decision}}"],
      ],
    },
    {
      title: "Delay of the event loop (p99)",
      unit: "s",
      queries: [[`max by (pod) (tollgate_event_loop_delay_seconds{${where},quantile="0.99"})`, "{{pod}}"]],
    },
    {
      title: "Memory",
      unit: "bytes",
      queries: [[`max by (pod) (process_resident_memory_bytes{${where}})`, "{{pod}}"]],
    },
  ],
};

const upstreams: Dashboard = {
  name: "upstreams",
  title: "Upstreams",
  description: "Attempts, failover and speed of channels.",
  panels: [
    {
      title: "Attempts",
      unit: "reqps",
      queries: [[`sum by (channel) (${rate("tollgate_upstream_attempts_total")})`, "{{channel}}"]],
    },
    {
      title: "Attempts that failed",
      unit: "reqps",
      queries: [
        [
          `sum by (channel, outcome) (${rate("tollgate_upstream_attempts_total", ',outcome!~"ok|aborted|client_error"')})`,
          "{{channel}} {{outcome}}",
        ],
      ],
    },
    {
      title: "Attempts for each call",
      unit: "short",
      queries: [
        [
          `sum(${rate("tollgate_upstream_attempts_total")}) / sum(${rate("tollgate_requests_total", ',channel!=""')})`,
          "attempts",
        ],
      ],
    },
    {
      title: "Time to the first token",
      unit: "s",
      queries: quantiles("tollgate_time_to_first_token_seconds", "channel"),
    },
    {
      title: "Time between tokens",
      unit: "s",
      queries: quantiles("tollgate_time_between_tokens_seconds", "channel"),
    },
    { title: "Duration", unit: "s", queries: quantiles("tollgate_request_duration_seconds", "channel") },
  ],
};

const usage: Dashboard = {
  name: "usage",
  title: "Usage",
  description: "Tokens and cost by route and channel.",
  panels: [
    {
      title: "Cost in the time shown",
      unit: "short",
      isNumber: true,
      queries: [[`sum(increase(tollgate_cost_credits_total{${where}}[$__range]))`, "credits"]],
    },
    {
      title: "Tokens in the time shown",
      unit: "short",
      isNumber: true,
      queries: [[`sum(increase(tollgate_tokens_total{${where}}[$__range]))`, "tokens"]],
    },
    {
      title: "Calls whose usage was estimated",
      unit: "reqps",
      queries: [[`sum by (channel) (${rate("tollgate_usage_estimated_total")})`, "{{channel}}"]],
    },
    {
      title: "Cost by route",
      unit: "short",
      queries: [[`sum by (route) (${rate("tollgate_cost_credits_total")}) * 3600`, "{{route}} an hour"]],
    },
    {
      title: "Tokens by route",
      unit: "short",
      queries: [[`sum by (route) (${rate("tollgate_tokens_total")})`, "{{route}} a second"]],
    },
    {
      title: "Tokens by class",
      unit: "short",
      queries: [[`sum by (class) (${rate("tollgate_tokens_total")})`, "{{class}} a second"]],
    },
  ],
};

const controlPlane: Dashboard = {
  name: "control-plane",
  title: "Control plane",
  description: "How changes of manifests reach the proxies.",
  panels: [
    {
      title: "From publication to the last proxy",
      unit: "s",
      queries: quantiles("tollgate_config_convergence_seconds", "namespace"),
    },
    {
      title: "Changes published",
      unit: "short",
      queries: [[`sum by (pod) (${rate("tollgate_config_changes_total")})`, "{{pod}} a second"]],
    },
    {
      title: "Proxies",
      unit: "short",
      queries: [
        [`sum(tollgate_fleet_proxies{${where}})`, "connected"],
        [`sum(tollgate_fleet_ready_proxies{${where}})`, "ready"],
      ],
    },
    {
      title: "Refused objects",
      unit: "short",
      queries: [
        [`max(tollgate_config_refused_objects{${where}})`, "by the operator"],
        [`max(tollgate_fleet_rejected_objects{${where}})`, "by a proxy"],
      ],
    },
    {
      title: "Proxies: since the operator was heard of",
      unit: "s",
      queries: [[`max by (pod) (tollgate_config_silent_seconds{${where}})`, "{{pod}}"]],
    },
    {
      title: "Keys",
      unit: "short",
      queries: [[`max by (pod) (tollgate_config_keys{${where}})`, "{{pod}}"]],
    },
    {
      title: "Status: writes",
      unit: "short",
      queries: [[`sum by (result) (${rate("tollgate_status_writes_total")})`, "{{result}} a second"]],
    },
    {
      title: "Status: oldest that waits",
      unit: "s",
      queries: [[`max(tollgate_status_oldest_pending_seconds{${where}})`, "seconds"]],
    },
    {
      title: "Events told",
      unit: "short",
      queries: [[`sum by (result) (${rate("tollgate_events_total")})`, "{{result}} a second"]],
    },
  ],
};

export const dashboards: readonly Dashboard[] = [overview, upstreams, usage, controlPlane];
