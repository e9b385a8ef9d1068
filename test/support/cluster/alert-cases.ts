/** Series that must, and must not, raise each alert: one `promtool test rules` file is made from them. */

export interface AlertCase {
  readonly alert: string;
  /** Tells cases of one alert apart. */
  readonly of?: string;
  /** Series in promtool's notation: name with labels, and values a minute. */
  readonly firing: Readonly<Record<string, string>>;
  readonly quiet: Readonly<Record<string, string>>;
  /** Minutes after which it is judged. */
  readonly minutes: number;
}

const pod = 'namespace="gateway",pod="p-1"';

export const alertCases: readonly AlertCase[] = [
  {
    alert: "ConfigRejected",
    firing: { [`tollgate_config_refused_objects{${pod}}`]: "1x20" },
    quiet: { [`tollgate_config_refused_objects{${pod}}`]: "0x20", [`tollgate_fleet_rejected_objects{${pod}}`]: "0x20" },
    minutes: 5,
  },
  {
    alert: "ConfigStale",
    firing: { [`tollgate_config_silent_seconds{${pod}}`]: "0+60x20" },
    quiet: { [`tollgate_config_silent_seconds{${pod}}`]: "9x20" },
    minutes: 10,
  },
  {
    alert: "FleetDiverged",
    firing: {
      [`tollgate_config_revision{${pod}}`]: "7x20",
      [`tollgate_config_least_revision{${pod}}`]: "6x20",
      [`tollgate_fleet_ready_proxies{${pod}}`]: "2x20",
    },
    quiet: {
      [`tollgate_config_revision{${pod}}`]: "7x20",
      [`tollgate_config_least_revision{${pod}}`]: "7x20",
      [`tollgate_fleet_ready_proxies{${pod}}`]: "2x20",
    },
    minutes: 5,
  },
  {
    alert: "WatchSilent",
    firing: { [`tollgate_watch_last_event_age_seconds{${pod},resource="apikeys"}`]: "0+60x20" },
    quiet: { [`tollgate_watch_last_event_age_seconds{${pod},resource="apikeys"}`]: "59x20" },
    minutes: 10,
  },
  {
    alert: "NoLeader",
    firing: { [`tollgate_leader{${pod}}`]: "0x20" },
    quiet: { [`tollgate_leader{${pod}}`]: "0x20", 'tollgate_leader{namespace="gateway",pod="p-2"}': "1x20" },
    minutes: 5,
  },
  {
    alert: "ProxiesDisconnected",
    firing: {
      [`tollgate_config_connected{${pod}}`]: "0x20",
      'tollgate_config_connected{namespace="gateway",pod="p-2"}': "1x20",
    },
    quiet: {
      [`tollgate_config_connected{${pod}}`]: "1x20",
      'tollgate_config_connected{namespace="gateway",pod="p-2"}': "1x20",
    },
    minutes: 5,
  },
  {
    alert: "CertificateExpiring",
    firing: { [`tollgate_push_certificate_expiry_seconds{${pod},certificate="leaf"}`]: "14000-60x30" },
    quiet: { [`tollgate_push_certificate_expiry_seconds{${pod},certificate="leaf"}`]: "30000-60x30" },
    minutes: 20,
  },
  {
    alert: "CertificateExpiring",
    of: "the data port",
    firing: { [`tollgate_data_certificate_expiry_seconds{${pod},certificate="data port"}`]: "600-60x30" },
    quiet: {
      [`tollgate_data_certificate_expiry_seconds{${pod},certificate="data port"}`]: "30000-60x30",
      [`tollgate_push_certificate_expiry_seconds{${pod},certificate="leaf"}`]: "30000-60x30",
    },
    minutes: 20,
  },
  {
    alert: "KeyExpiring",
    firing: { [`tollgate_keys_expiring{${pod}}`]: "1x30" },
    quiet: { [`tollgate_keys_expiring{${pod}}`]: "0x30" },
    minutes: 20,
  },
  {
    alert: "ChannelUnavailable",
    firing: { [`tollgate_upstream_attempts_total{${pod},channel="a/b",outcome="timeout"}`]: "0+60x30" },
    quiet: {
      [`tollgate_upstream_attempts_total{${pod},channel="a/b",outcome="timeout"}`]: "0+60x30",
      [`tollgate_upstream_attempts_total{${pod},channel="a/b",outcome="ok"}`]: "0+1x30",
    },
    minutes: 15,
  },
  {
    alert: "RouteUnavailable",
    firing: {
      [`tollgate_requests_total{${pod},route="a/b",outcome="upstream_error"}`]: "0+60x30",
      [`tollgate_requests_total{${pod},route="a/b",outcome="ok"}`]: "0+30x30",
    },
    quiet: {
      [`tollgate_requests_total{${pod},route="a/b",outcome="upstream_error"}`]: "0+30x30",
      [`tollgate_requests_total{${pod},route="a/b",outcome="ok"}`]: "0+60x30",
    },
    minutes: 15,
  },
  {
    alert: "UpstreamErrorBudget",
    firing: {
      [`tollgate_requests_total{${pod},route="a/b",outcome="upstream_timeout"}`]: "0+2x90",
      [`tollgate_requests_total{${pod},route="a/b",outcome="ok"}`]: "0+98x90",
    },
    quiet: {
      [`tollgate_requests_total{${pod},route="a/b",outcome="upstream_timeout"}`]: "0+1x90",
      [`tollgate_requests_total{${pod},route="a/b",outcome="ok"}`]: "0+99x90",
      // The caller's own faults use up nothing.
      [`tollgate_requests_total{${pod},route="a/b",outcome="rate_limited"}`]: "0+500x90",
    },
    minutes: 80,
  },
  {
    alert: "QuotaStoreUnavailable",
    firing: { [`tollgate_quota_decisions_total{${pod},decision="store-unavailable"}`]: "0+5x20" },
    quiet: { [`tollgate_quota_decisions_total{${pod},decision="store-unavailable"}`]: "7x20" },
    minutes: 10,
  },
];
