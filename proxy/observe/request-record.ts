/**
 * Records what the pipeline learns about one request, for the access log and the metrics.
 *
 * The stages fill it in, and it is reported once at the end, however the request ended. Holds no header, prompt or key
 * material.
 */
import type { ErrorCode } from "#proxy/errors";
import type { ChargedUnits } from "#proxy/settle/price";
import { outputTokens, type TokenUsage } from "#proxy/settle/usage";
import type { Key } from "#proxy/snapshot/types.gen";
import type { AccessLog, AccessRecord, EndCode } from "./access-log.ts";
import type { MetricFormat, ProxyMetrics, RequestOutcome } from "./metrics.ts";

export class RequestRecord implements AccessRecord {
  readonly requestId: string;
  /** Monotonic, for durations. */
  readonly startedMs: number;
  /** Wall clock, milliseconds since the epoch. */
  readonly timeMs: number;
  key: Key | undefined;
  clientAddress = "";
  format: MetricFormat = "None";
  model: string | undefined;
  route = "";
  channel = "";
  isStream = false;
  status = 0;
  errorCode: ErrorCode | undefined;
  end: EndCode = "--";
  requestBytes = 0;
  responseBytes = 0;
  usage: TokenUsage | undefined;
  units: ChargedUnits | undefined;
  costNanos: bigint | undefined;
  isEstimated = false;
  attempts = 0;
  traceparent: string | undefined;
  /** This and the two below: known when the request is reported. */
  durationMs = 0;
  firstByteMs: number | undefined;
  upstreamMs: number | undefined;
  #outcome: RequestOutcome = "ok";
  #upstreamStartedMs = Number.NaN;
  #upstreamMs = 0;
  #firstPieceMs = Number.NaN;
  #lastPieceMs = Number.NaN;

  constructor(requestId: string, startedMs: number, timeMs: number) {
    this.requestId = requestId;
    this.startedMs = startedMs;
    this.timeMs = timeMs;
  }

  upstreamStarted(): void {
    this.#upstreamStartedMs = performance.now();
  }

  upstreamEnded(): void {
    this.#upstreamMs += performance.now() - this.#upstreamStartedMs;
  }

  /** The client has had a piece of the response. */
  get hasBegun(): boolean {
    return !Number.isNaN(this.#firstPieceMs);
  }

  /** A piece of the response has gone to the client. */
  pieceSent(): void {
    this.#lastPieceMs = performance.now();
    if (Number.isNaN(this.#firstPieceMs)) this.#firstPieceMs = this.#lastPieceMs;
  }

  refused(code: ErrorCode, status: number, end: EndCode): void {
    this.errorCode = code;
    this.status = status;
    this.end = end;
    this.#outcome = code;
  }

  /** The response had begun and could not be finished. */
  cut(code: ErrorCode, end: EndCode): void {
    this.errorCode = code;
    this.end = end;
    this.#outcome = "cut";
  }

  clientLeft(end: EndCode): void {
    this.end = end;
    this.#outcome = "client_closed";
  }

  /** Reports the request; called once. */
  report(metrics: ProxyMetrics, accessLog: AccessLog | undefined): void {
    const durationMs = performance.now() - this.startedMs;
    const firstByteMs = this.#firstPieceMs - this.startedMs;
    const slot = metrics.slot(this.route, this.channel, this.format);
    slot.finish(
      this.#outcome,
      durationMs,
      firstByteMs,
      this.#betweenTokensMs(),
      Math.max(0, durationMs - this.#upstreamMs),
    );
    if (this.usage !== undefined) slot.consume(this.usage, this.costNanos ?? 0n, this.isEstimated);
    if (this.units !== undefined) slot.consumeUnits(this.units);
    if (accessLog === undefined) return;
    this.durationMs = durationMs;
    if (!Number.isNaN(firstByteMs)) this.firstByteMs = firstByteMs;
    if (this.attempts > 0) this.upstreamMs = this.#upstreamMs;
    accessLog.write(this);
  }

  #betweenTokensMs(): number {
    const tokens = this.usage === undefined ? 0 : outputTokens(this.usage);
    return this.isStream && tokens > 1 ? (this.#lastPieceMs - this.#firstPieceMs) / (tokens - 1) : Number.NaN;
  }
}
