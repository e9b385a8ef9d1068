/**
 * Counts for one (route, channel, format): plain numbers in arrays, so that a request costs nanoseconds to record.
 * `metrics.ts` owns the slots, reads them at scrape, and keeps their number bounded.
 */
import { type ErrorCode, errorTable } from "#proxy/errors";
import { countImages } from "#proxy/settle/image-price";
import type { ChargedUnits } from "#proxy/settle/price";
import type { TokenUsage } from "#proxy/settle/usage";
import type { WireFormat } from "#proxy/snapshot/types.gen";
import {
  BucketHistogram,
  overheadSecondsBounds,
  requestSecondsBounds,
  tokenSecondsBounds,
} from "./bucket-histogram.ts";

/** What a request asked for; `Models` for lists, `None` where no endpoint matched. */
export type MetricFormat = WireFormat | "Models" | "None";

/** How a request ended: a closed set. `client_closed`: it left; `cut`: an error after the first byte. */
export const outcomes: readonly string[] = [
  "ok",
  "client_closed",
  "cut",
  ...new Set(Object.values(errorTable).map((row) => row.reason)),
];

const outcomeIndexes = new Map(outcomes.map((outcome, index) => [outcome, index]));

/** Position of an outcome in `outcomes`: resolve it once, outside the hot path where possible. */
function outcomeIndex(outcome: RequestOutcome): number {
  if (outcome === "ok") return 0;
  if (outcome === "client_closed") return 1;
  if (outcome === "cut") return 2;
  return outcomeIndexes.get(errorTable[outcome].reason) ?? 0;
}

/** An error code counts under its row's `reason`. */
export type RequestOutcome = "ok" | "client_closed" | "cut" | ErrorCode;

/** Token classes as metric labels, in the order of the counters. */
export const tokenClasses = [
  "input",
  "cache_read",
  "cache_write",
  "cache_write_1h",
  "output",
  "reasoning",
  "audio_input",
  "audio_output",
  "image_input",
  "image_output",
] as const;

/** Durations of one (channel, format), shared by its slots: routes would multiply the series by the size of the catalogue. */
export class DurationSlot {
  readonly channel: string;
  readonly format: MetricFormat;
  readonly duration = new BucketHistogram(requestSecondsBounds);
  readonly firstToken = new BucketHistogram(requestSecondsBounds);
  readonly betweenTokens = new BucketHistogram(tokenSecondsBounds);
  readonly overhead = new BucketHistogram(overheadSecondsBounds);

  constructor(channel: string, format: MetricFormat) {
    this.channel = channel;
    this.format = format;
  }
}

export class MetricSlot {
  readonly route: string;
  readonly channel: string;
  readonly format: MetricFormat;
  /** Requests by position in `outcomes`. */
  readonly requests = new Float64Array(outcomes.length);
  /** Tokens by position in `tokenClasses`. */
  readonly tokens = new Float64Array(tokenClasses.length);
  readonly #durations: DurationSlot;
  #costNanos = 0n;
  #searches = 0;
  #estimated = 0;
  #images = 0;
  #audioMilliseconds = 0;
  #characters = 0;

  constructor(route: string, durations: DurationSlot) {
    this.route = route;
    this.channel = durations.channel;
    this.format = durations.format;
    this.#durations = durations;
  }

  /**
   * Records the end of one request. Times in milliseconds; `Number.NaN` for what did not happen.
   *
   * @param firstTokenMs from the request's arrival to the first content sent to the client
   * @param betweenTokensMs mean time between produced tokens after the first
   * @param overheadMs the gateway's own part: arrival to upstream request plus reply bookkeeping
   */
  finish(
    outcome: RequestOutcome,
    durationMs: number,
    firstTokenMs: number,
    betweenTokensMs: number,
    overheadMs: number,
  ): void {
    const index = outcomeIndex(outcome);
    this.requests[index] = (this.requests[index] ?? 0) + 1;
    const durations = this.#durations;
    durations.duration.observe(durationMs);
    durations.firstToken.observe(firstTokenMs);
    durations.betweenTokens.observe(betweenTokensMs);
    durations.overhead.observe(overheadMs);
  }

  /** Adds what one request consumed. `costNanos` in nano-credits, exact. */
  consume(usage: TokenUsage, costNanos: bigint, isEstimated: boolean): void {
    const tokens = this.tokens;
    tokens[0] = (tokens[0] ?? 0) + usage.input;
    tokens[1] = (tokens[1] ?? 0) + usage.cacheRead;
    tokens[2] = (tokens[2] ?? 0) + usage.cacheWrite;
    tokens[3] = (tokens[3] ?? 0) + usage.cacheWrite1h;
    tokens[4] = (tokens[4] ?? 0) + usage.output;
    tokens[5] = (tokens[5] ?? 0) + usage.reasoning;
    tokens[6] = (tokens[6] ?? 0) + usage.audioInput;
    tokens[7] = (tokens[7] ?? 0) + usage.audioOutput;
    tokens[8] = (tokens[8] ?? 0) + usage.imageInput;
    tokens[9] = (tokens[9] ?? 0) + usage.imageOutput;
    this.#searches += usage.searches;
    if (costNanos !== 0n) this.#costNanos += costNanos;
    if (isEstimated) this.#estimated += 1;
  }

  /** Adds what one request used by the piece. */
  consumeUnits(units: ChargedUnits): void {
    this.#images += countImages(units.images);
    this.#audioMilliseconds += units.audioMilliseconds ?? 0;
    this.#characters += units.characters ?? 0;
  }

  /** Consumption in credits: exact to the nano-credit while counted, rounded to a number only here. */
  get costCredits(): number {
    return Number(this.#costNanos / 1_000_000_000n) + Number(this.#costNanos % 1_000_000_000n) / 1e9;
  }

  /** Provider-run web searches. */
  get searches(): number {
    return this.#searches;
  }

  get images(): number {
    return this.#images;
  }

  /** Of audio that was heard or spoken. */
  get audioSeconds(): number {
    return this.#audioMilliseconds / 1_000;
  }

  /** Spoken. */
  get characters(): number {
    return this.#characters;
  }

  /** Requests whose usage the upstream did not report. */
  get estimated(): number {
    return this.#estimated;
  }
}
