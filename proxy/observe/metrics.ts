/**
 * Keeps the proxy's metrics: counters that cost nanoseconds while requests run, and prom-client's text when scraped.
 *
 * Invariants: labels come from closed sets (routes and channels of the configuration, formats, outcomes), never from a
 * key, a path or a prompt, so the number of series does not grow with keys or traffic; slots are bounded, and requests
 * beyond the bound count under `other`. The request pipeline gets a slot once for each request; the admin port
 * renders.
 */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { collectDefaultMetrics, Registry } from "prom-client";
import type { PricedClass } from "#proxy/settle/price";
import { BucketHistogram, overheadSecondsBounds } from "./bucket-histogram.ts";
import { CollectedCounter, CollectedGauge, CollectedHistogram, type Reading } from "./collected-metrics.ts";
import { type LedgerReading, ledgerOutcomes, sharedReadings } from "./ledger-reading.ts";
import { DurationSlot, type MetricFormat, MetricSlot, outcomes, tokenClasses } from "./metric-slot.ts";
import { PlaceMap } from "./place-map.ts";

export type { MetricFormat, MetricSlot, RequestOutcome } from "./metric-slot.ts";

/** How one attempt on an upstream ended. */
export const attemptOutcomes = [
  "ok",
  "connect_failure",
  "timeout",
  "rate_limited",
  "server_error",
  "client_error",
  "credential_rejected",
  "payment_required",
  "invalid_reply",
  "cut",
  "aborted",
] as const;
export type AttemptOutcomeLabel = (typeof attemptOutcomes)[number];

/** What the ledger decided; `shadow_*` would have refused in mode Enforce. */
export const quotaDecisions = [
  "reserved",
  "quota",
  "rate",
  "concurrency",
  "balance",
  "store-unavailable",
  "shadow",
] as const;
export type QuotaDecision = (typeof quotaDecisions)[number];

export type LedgerOperation = "reserve" | "settle";

/** State of the configuration, read at scrape. */
export interface ConfigReading {
  readonly revision: number;
  /** Milliseconds since the operator was last heard of; undefined before the first contact. */
  readonly silentForMs: number | undefined;
  /** Milliseconds since the last revision went live; undefined before the first. */
  readonly ageMs: number | undefined;
  /** Objects of the operator that this proxy could not take, in all. */
  readonly rejects: number;
  readonly keyCount: number;
  readonly isConnected: boolean;
  /** What is live came from the last good file, and no operator has confirmed it yet. */
  readonly isStale: boolean;
}

/** Slots beyond this count under `other`: 100 routes on 10 channels in 5 formats fit, a runaway does not fill the memory. */
const slotCountMax = 5_000;
const other = "other";

/** How often the event loop's delay is looked at. */
const eventLoopBeatMs = 10;

export class ProxyMetrics {
  readonly #registry = new Registry();
  readonly #slots = new PlaceMap<MetricSlot>();
  readonly #durations = new Map<string, DurationSlot>();
  readonly #attempts = new Map<string, Float64Array>();
  readonly #dropped = new Map<string, number>();
  readonly #unpriced = new Map<string, number>();
  readonly #decisions = new Float64Array(quotaDecisions.length);
  readonly #ledger = {
    reserve: new BucketHistogram(overheadSecondsBounds),
    settle: new BucketHistogram(overheadSecondsBounds),
  };
  readonly #eventLoopDelay = monitorEventLoopDelay({ resolution: eventLoopBeatMs });
  #inFlight = 0;
  #readConfig: () => ConfigReading | undefined = () => undefined;
  #readLedger: () => LedgerReading | undefined = () => undefined;
  #readCertificate: () => number | undefined = () => undefined;

  constructor() {
    this.#eventLoopDelay.enable();
    collectDefaultMetrics({ register: this.#registry });
    this.#registerRequests();
    this.#registerDurations();
    this.#registerState();
    this.#registerCertificate();
  }

  /**
   * The counters of one (route, channel, format); the same object each time, so callers may keep it.
   *
   * @param route `namespace/name`, empty where none was found
   * @param channel `namespace/name`, empty where none was chosen
   */
  slot(route: string, channel: string, format: MetricFormat): MetricSlot {
    const known = this.#slots.get(route, channel, format);
    if (known !== undefined) return known;
    if (this.#slots.size >= slotCountMax && route !== other) return this.slot(other, other, format);
    const slot = new MetricSlot(route, this.#durationSlot(channel, format));
    this.#slots.set(route, channel, format, slot);
    return slot;
  }

  /** One more request is served now; `requestEnded` must follow exactly once. */
  requestStarted(): void {
    this.#inFlight += 1;
  }

  requestEnded(): void {
    this.#inFlight -= 1;
  }

  /** Requests served now. */
  get inFlight(): number {
    return this.#inFlight;
  }

  attempt(channel: string, outcome: AttemptOutcomeLabel): void {
    let counts = this.#attempts.get(channel);
    if (counts === undefined) {
      counts = new Float64Array(attemptOutcomes.length);
      this.#attempts.set(channel, counts);
    }
    const index = attemptOutcomes.indexOf(outcome);
    counts[index] = (counts[index] ?? 0) + 1;
  }

  /** @param parameter of a closed set */
  parameterDropped(format: MetricFormat, parameter: string): void {
    const id = `${format} ${parameter}`;
    this.#dropped.set(id, (this.#dropped.get(id) ?? 0) + 1);
  }

  /** What a call used cost nothing, because the prices of its route leave it out. */
  usedUnpriced(route: string, usageClass: PricedClass): void {
    const id = `${route} ${usageClass}`;
    this.#unpriced.set(id, (this.#unpriced.get(id) ?? 0) + 1);
  }

  quotaDecision(decision: QuotaDecision): void {
    const index = quotaDecisions.indexOf(decision);
    this.#decisions[index] = (this.#decisions[index] ?? 0) + 1;
  }

  ledgerTook(operation: LedgerOperation, durationMs: number): void {
    this.#ledger[operation].observe(durationMs);
  }

  /** Where the state of the configuration is read at each scrape. */
  watchConfig(read: () => ConfigReading | undefined): void {
    this.#readConfig = read;
  }

  /** Where the state of the ledger is read at each scrape. */
  watchLedger(read: () => LedgerReading | undefined): void {
    this.#readLedger = read;
  }

  /** @param read when the data port's certificate ends, milliseconds since the epoch; undefined without one */
  watchCertificate(read: () => number | undefined): void {
    this.#readCertificate = read;
  }

  /** Content type of `render()`. */
  get contentType(): string {
    return this.#registry.contentType;
  }

  /** All metrics in Prometheus text format. */
  render(): Promise<string> {
    return this.#registry.metrics();
  }

  /** Stops the measurement of the event loop. */
  close(): void {
    this.#eventLoopDelay.disable();
    this.#registry.clear();
  }

  #durationSlot(channel: string, format: MetricFormat): DurationSlot {
    const id = `${channel} ${format}`;
    let slot = this.#durations.get(id);
    if (slot === undefined) {
      slot = new DurationSlot(channel, format);
      this.#durations.set(id, slot);
    }
    return slot;
  }

  #registerRequests(): void {
    this.#counter("tollgate_requests_total", "Requests ended, by how they ended.", () =>
      this.#eachSlot((slot, labels) =>
        outcomes.map((outcome, index) => ({ labels: { ...labels, outcome }, value: slot.requests[index] ?? 0 })),
      ),
    );
    this.#counter("tollgate_tokens_total", "Tokens consumed, in disjoint classes.", () =>
      this.#eachSlot((slot, labels) =>
        tokenClasses.map((name, index) => ({ labels: { ...labels, class: name }, value: slot.tokens[index] ?? 0 })),
      ),
    );
    this.#counter("tollgate_cost_credits_total", "Cost of what was consumed, in credits.", () =>
      this.#eachSlot((slot, labels) => [{ labels, value: slot.costCredits }]),
    );
    this.#counter("tollgate_searches_total", "Web searches run by providers.", () =>
      this.#eachSlot((slot, labels) => [{ labels, value: slot.searches }]),
    );
    this.#registerUnits();
    this.#counter(
      "tollgate_unpriced_usage_total",
      "Requests that used a class for which their route has no price.",
      () =>
        [...this.#unpriced].map(([id, value]) => {
          const [route = "", name = ""] = id.split(" ");
          return { labels: { route, class: name }, value };
        }),
    );
    this.#counter("tollgate_usage_estimated_total", "Requests whose usage the upstream did not report.", () =>
      this.#eachSlot((slot, labels) => [{ labels, value: slot.estimated }]),
    );
    this.#counter("tollgate_quota_decisions_total", "Decisions of the ledger by reason.", () =>
      quotaDecisions.map((decision, index) => ({ labels: { decision }, value: this.#decisions[index] ?? 0 })),
    );
    this.#counter(
      "tollgate_dropped_parameters_total",
      "Parameters of clients that were left out because the upstream or its format does not support them, by the client's format.",
      () =>
        [...this.#dropped].map(([id, value]) => {
          const [format = "", parameter = ""] = id.split(" ");
          return { labels: { format, parameter }, value };
        }),
    );
    this.#counter("tollgate_upstream_attempts_total", "Attempts on upstreams by outcome.", () =>
      [...this.#attempts].flatMap(([channel, counts]) =>
        attemptOutcomes
          .map((outcome, index) => ({ labels: { channel, outcome }, value: counts[index] ?? 0 }))
          .filter((reading) => reading.value > 0),
      ),
    );
  }

  #registerUnits(): void {
    const rows = [
      ["tollgate_images_total", "Images made.", "images"],
      ["tollgate_audio_seconds_total", "Length of the audio that was heard or spoken.", "audioSeconds"],
      ["tollgate_characters_total", "Characters spoken.", "characters"],
    ] as const;
    for (const [name, help, unit] of rows) {
      this.#counter(name, help, () => this.#eachSlot((slot, labels) => [{ labels, value: slot[unit] }]));
    }
  }

  #registerDurations(): void {
    const rows = [
      ["tollgate_request_duration_seconds", "Arrival of a request to its last byte.", "duration"],
      ["tollgate_time_to_first_token_seconds", "Arrival of a request to the first content sent.", "firstToken"],
      ["tollgate_time_between_tokens_seconds", "Mean time between produced tokens after the first.", "betweenTokens"],
      ["tollgate_gateway_overhead_seconds", "The gateway's own part of a request.", "overhead"],
    ] as const;
    for (const [name, help, member] of rows) {
      new CollectedHistogram({ name, help, registry: this.#registry }, () =>
        [...this.#durations.values()].map((slot) => ({
          labels: { channel: slot.channel, format: slot.format },
          histogram: slot[member],
        })),
      );
    }
    new CollectedHistogram(
      { name: "tollgate_ledger_operation_seconds", help: "Time of ledger operations.", registry: this.#registry },
      () => Object.entries(this.#ledger).map(([operation, histogram]) => ({ labels: { operation }, histogram })),
    );
  }

  #registerState(): void {
    this.#gauge("tollgate_requests_in_flight", "Requests served now.", () => [{ labels: {}, value: this.#inFlight }]);
    this.#gauge("tollgate_ledger_reservations_open", "Reservations held now.", () => {
      const ledger = this.#readLedger();
      return ledger === undefined ? [] : [{ labels: {}, value: ledger.openCount }];
    });
    this.#counter("tollgate_ledger_outcomes_total", "Outcomes of reservations, and settlements without effect.", () => {
      const ledger = this.#readLedger();
      return ledger === undefined
        ? []
        : ledgerOutcomes.map((outcome) => ({ labels: { outcome }, value: ledger.counts[outcome] }));
    });
    this.#gauge("tollgate_ledger_store_usable", "1 while the shared store is counted in.", () =>
      sharedReadings(this.#readLedger(), ({ isUsable }) => Number(isUsable)),
    );
    this.#gauge("tollgate_ledger_undelivered", "Settlements that wait for the shared store.", () =>
      sharedReadings(this.#readLedger(), ({ undelivered }) => undelivered),
    );
    this.#counter("tollgate_ledger_lost_total", "Settlements that were never told to the shared store.", () =>
      sharedReadings(this.#readLedger(), ({ lost }) => lost),
    );
    this.#configGauge("tollgate_config_revision", "Revision of the live configuration.", (config) => config.revision);
    this.#configGauge("tollgate_config_age_seconds", "Time since the live configuration last changed.", (config) =>
      seconds(config.ageMs),
    );
    this.#configGauge("tollgate_config_silent_seconds", "Time since the operator was last heard.", (config) =>
      seconds(config.silentForMs),
    );
    this.#configGauge("tollgate_config_connected", "1 while the operator is connected.", (config) =>
      config.isConnected ? 1 : 0,
    );
    this.#configGauge(
      "tollgate_config_stale",
      "1 while the live configuration is that of the last good file and no operator has confirmed it.",
      (config) => (config.isStale ? 1 : 0),
    );
    this.#configGauge("tollgate_config_keys", "Keys in the live configuration.", (config) => config.keyCount);
    this.#counter("tollgate_config_rejects_total", "Objects of the operator that this proxy refused.", () => {
      const config = this.#readConfig();
      return config === undefined ? [] : [{ labels: {}, value: config.rejects }];
    });
    this.#gauge("tollgate_event_loop_delay_seconds", "Delay of the event loop since the start, by quantile.", () =>
      [50, 90, 99].map((percentile) => ({
        labels: { quantile: String(percentile / 100) },
        // What is measured is the time between two beats: without delay, one beat.
        value: Math.max(0, this.#eventLoopDelay.percentile(percentile) / 1e9 - eventLoopBeatMs / 1e3),
      })),
    );
  }

  #registerCertificate(): void {
    this.#gauge("tollgate_data_certificate_expiry_seconds", "Time until the data port's certificate expires.", () => {
      const notAfterMs = this.#readCertificate();
      return notAfterMs === undefined
        ? []
        : [{ labels: { certificate: "data port" }, value: Math.round((notAfterMs - Date.now()) / 1000) }];
    });
  }

  #configGauge(name: string, help: string, read: (config: ConfigReading) => number | undefined): void {
    this.#gauge(name, help, () => {
      const config = this.#readConfig();
      const value = config === undefined ? undefined : read(config);
      return value === undefined ? [] : [{ labels: {}, value }];
    });
  }

  #counter(name: string, help: string, read: () => Reading[]): void {
    new CollectedCounter({ name, help, registry: this.#registry }, read);
  }

  #gauge(name: string, help: string, read: () => Reading[]): void {
    new CollectedGauge({ name, help, registry: this.#registry }, read);
  }

  /** Readings of every slot; zeros are left out, or every route would show every outcome. */
  #eachSlot(read: (slot: MetricSlot, labels: Reading["labels"]) => Reading[]): Reading[] {
    const readings: Reading[] = [];
    for (const slot of this.#slots.values()) {
      const labels = { route: slot.route, channel: slot.channel, format: slot.format };
      for (const reading of read(slot, labels)) if (reading.value > 0) readings.push(reading);
    }
    return readings;
  }
}

function seconds(durationMs: number | undefined): number | undefined {
  return durationMs === undefined ? undefined : durationMs / 1000;
}
