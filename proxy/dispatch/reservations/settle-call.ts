/**
 * Settles one admitted call: the caller's limits and balance once, and each attempt's channel once, whatever happens.
 *
 * What every endpoint has in common; how a reply is counted is the matter of `settle-chat.ts` and `settle-units.ts`.
 */
import type { Estimate } from "#proxy/admit/estimate-cost";
import { oneRequestAmounts } from "#proxy/admit/ledger";
import type { Services } from "#proxy/dispatch/services";
import type { ReplyReading, StreamFilter } from "#proxy/formats/format";
import type { ModelCall } from "#proxy/formats/model-call";
import type { RequestRecord } from "#proxy/observe/request-record";
import { type ChargedExtras, computeCost } from "#proxy/settle/price";
import { inputTokens, outputTokens, type TokenUsage } from "#proxy/settle/usage";
import type { Channel, Route } from "#proxy/snapshot/types.gen";
import { type ChannelSlot, HeldReservations, type Pending } from "./held-reservations.ts";

export interface SettlementContext<Call extends ModelCall = ModelCall, Need extends Estimate = Estimate> {
  readonly services: Pick<Services, "ledger" | "reservations" | "metrics" | "estimateTokens" | "log">;
  readonly route: Route;
  readonly call: Call;
  /** Of what was reserved. */
  readonly estimate: Need;
  /** Its request id is that of the reservation held for key, account and route. */
  readonly record: RequestRecord;
}

const oneRequest: ChargedExtras = { requests: 1 };

export abstract class CallSettlement<Call extends ModelCall = ModelCall, Need extends Estimate = Estimate> {
  protected readonly context: SettlementContext<Call, Need>;
  protected readonly held: HeldReservations;
  #hasFetched = false;

  constructor(context: SettlementContext<Call, Need>) {
    this.context = context;
    this.held = new HeldReservations(context.record.requestId, context.services);
  }

  /** Settles a whole reply. */
  abstract settleReply(reading: ReplyReading): Pending;

  /** Settles a stream that is whole. */
  abstract settleStream(filter: StreamFilter): Pending;

  /** The reply was stopped before it was whole. @param isSent the upstream may have worked on it */
  abstract settleStopped(filter: StreamFilter | undefined, isSent: boolean): Promise<void>;

  /** The upstream broke off or refused after it had produced something. */
  abstract settleBroken(filter: StreamFilter | undefined): Promise<void>;

  /** The reply was larger than anybody reads: it was generated, and nothing bounds it but what was reserved. */
  abstract settleOversized(): Promise<void>;

  /** The call went on with further requests: what came before is paid for, whatever the one that runs has said. */
  abstract readonly hasContinued: boolean;

  /**
   * Reserves what the channel itself limits. `full`: skip it.
   * @param requests that the attempt takes
   */
  reserveChannel(channel: Channel, { amounts }: Estimate, requests = 1): ChannelSlot | Promise<ChannelSlot> {
    const { route, call } = this.context;
    const needed = requests === 1 ? amounts : { ...amounts, requests: BigInt(requests) };
    return this.held.reserveChannel(channel, route, call.model, needed);
  }

  /** A request of an attempt that takes several was sent. */
  countRequest(): void {
    this.held.countRequest();
  }

  /** The attempt ended and generated nothing: the request counts on the channel, nothing else. */
  releaseChannel(): Pending {
    return this.held.settleChannel(oneRequestAmounts);
  }

  /** The call succeeded and generated nothing: it costs one request. */
  settleRequest(): Pending {
    return this.held.settle(oneRequestAmounts);
  }

  /** Files are fetched for the call: it costs one request, also where none is sent upstream. */
  countFetch(): void {
    this.#hasFetched = true;
  }

  /** Gives back whatever is still held, for a call that ended without a reply or was counted before. */
  release(): Pending {
    return this.held.release(this.#hasFetched || this.context.record.attempts > 0);
  }

  /** Charges what was used, by the route's prices. */
  protected charge(usage: TokenUsage, isEstimated: boolean, extras: ChargedExtras = oneRequest): Pending {
    const { record, route, services } = this.context;
    if (this.held.isSettled) return undefined;
    const { costNanos, unpriced } = computeCost(usage, route.price, extras);
    // A route without any price is free on purpose.
    if (route.price !== undefined) for (const name of unpriced) services.metrics.usedUnpriced(record.route, name);
    record.usage = usage;
    if (extras !== oneRequest) record.units = extras;
    record.costNanos = costNanos;
    record.isEstimated = isEstimated;
    return this.held.settle({
      requests: 1n,
      inputTokens: BigInt(inputTokens(usage)),
      outputTokens: BigInt(outputTokens(usage)),
      costNanos,
    });
  }

  protected warnOfUsage(usage: TokenUsage): void {
    const { record, services } = this.context;
    services.log.warn("an upstream reported more usage than one call can have; the charge is capped", {
      request: record.requestId,
      channel: record.channel,
      input: inputTokens(usage),
      output: outputTokens(usage),
    });
  }
}
