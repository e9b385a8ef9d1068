/** Defines prom-client metrics whose numbers live elsewhere and are read at scrape. */
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { BucketHistogram } from "./bucket-histogram.ts";

export type MetricLabels = Readonly<Record<string, string>>;

export interface Reading {
  readonly labels: MetricLabels;
  readonly value: number;
}

export interface HistogramReading {
  readonly labels: MetricLabels;
  readonly histogram: BucketHistogram;
}

interface MetricNames {
  readonly name: string;
  readonly help: string;
  readonly registry: Registry;
}

/** A counter whose readings are taken at scrape. */
export class CollectedCounter extends Counter<string> {
  readonly #read: () => Reading[];

  constructor(names: MetricNames, read: () => Reading[]) {
    super({ name: names.name, help: names.help, registers: [names.registry] });
    this.#read = read;
  }

  override async get(): ReturnType<Counter<string>["get"]> {
    return { ...(await super.get()), values: this.#read() };
  }
}

/** A gauge whose readings are taken at scrape. */
export class CollectedGauge extends Gauge<string> {
  readonly #read: () => Reading[];

  constructor(names: MetricNames, read: () => Reading[]) {
    super({ name: names.name, help: names.help, registers: [names.registry] });
    this.#read = read;
  }

  override async get(): ReturnType<Gauge<string>["get"]> {
    return { ...(await super.get()), values: this.#read() };
  }
}

/** A histogram fed elsewhere; empty ones are not shown. */
export class CollectedHistogram extends Histogram<string> {
  readonly #name: string;
  readonly #help: string;
  readonly #read: () => HistogramReading[];

  constructor(names: MetricNames, read: () => HistogramReading[]) {
    super({ name: names.name, help: names.help, registers: [names.registry] });
    this.#name = names.name;
    this.#help = names.help;
    this.#read = read;
  }

  /** The form that prom-client's registry asks for; `get()` of the base class builds upon it. */
  async getForPromString(): Promise<object> {
    return {
      name: this.#name,
      help: this.#help,
      type: "histogram",
      aggregator: "sum",
      values: this.#read().flatMap((reading) => this.#render(reading)),
    };
  }

  #render({ labels, histogram }: HistogramReading): object[] {
    const counts = histogram.cumulative();
    const total = counts.at(-1) ?? 0;
    if (total === 0) return [];
    const rows: object[] = counts.map((count, index) => ({
      metricName: `${this.#name}_bucket`,
      labels: { ...labels, le: histogram.bounds[index] ?? "+Inf" },
      value: count,
    }));
    rows.push({ metricName: `${this.#name}_sum`, labels, value: histogram.sumSeconds });
    rows.push({ metricName: `${this.#name}_count`, labels, value: total });
    return rows;
  }
}
