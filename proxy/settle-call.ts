/**
 * Settles one admitted call: the caller's limits and balance once, each attempt's channel once, whatever happens.
 *
 * Numbers are the upstream's own where it gave any. Where it did not (a cut, a client that left, a provider without
 * usage), produced text is counted by a tokenizer and the prompt likewise, and the call is flagged as estimated: never
 * free after a byte was produced, never the whole reservation (RELIABILITY.md H2).
 */
import { channelClaims } from "./admit/claims.ts";
import type { Estimate } from "./admit/estimate-cost.ts";
import { type Amounts, type Ledger, type Refusal, type Reservation, zeroAmounts } from "./admit/ledger.ts";
import type { LiveReservations } from "./live-reservations.ts";
import type { Logger } from "./observe/logger.ts";
import type { ProxyMetrics } from "./observe/metrics.ts";
import type { RequestRecord } from "./observe/request-record.ts";
import type { ChatCall, ReplyReading, StreamMeter } from "./protocols/chat-format.ts";
import { boundUsage } from "./settle/plausible-usage.ts";
import { computeCost } from "./settle/price.ts";
import { promptText } from "./settle/prompt-text.ts";
import { inputTokens, outputTokens, type TokenUsage, zeroUsage } from "./settle/usage.ts";
import type { Channel, Route } from "./snapshot/types.gen.ts";

export interface SettlementContext {
  readonly ledger: Ledger;
  readonly reservations: LiveReservations;
  readonly metrics: ProxyMetrics;
  readonly estimateTokens: (text: string) => Promise<number>;
  readonly route: Route;
  readonly call: ChatCall;
  /** Answers that the upstream may have been asked for. */
  readonly candidates: number;
  readonly record: RequestRecord;
  readonly log: Logger;
}

/** A promise where the ledger answers late or tokens must be counted; undefined when it is done. */
export type Pending = Promise<void> | undefined;

export type ChannelSlot = "reserved" | "full";

export class CallSettlement {
  readonly #context: SettlementContext;
  readonly #id: string;
  #isSettled = false;
  #channelId: string | undefined;
  #channelAttempts = 0;

  /** @param id of the reservation held for key, account and route */
  constructor(id: string, context: SettlementContext) {
    this.#id = id;
    this.#context = context;
    context.reservations.add(id);
  }

  /** Reserves what the channel itself limits. `full`: skip it. */
  reserveChannel(channel: Channel, estimate: Estimate): ChannelSlot | Promise<ChannelSlot> {
    const claims = channelClaims(channel, this.#context.route, this.#context.call.model);
    if (claims === undefined) return "reserved";
    this.#channelAttempts += 1;
    const id = `${this.#id}/${this.#channelAttempts}`;
    const result = this.#context.ledger.reserve({ id, amounts: estimate.amounts, ...claims });
    return result instanceof Promise
      ? result.then((late) => this.#holdChannel(id, late))
      : this.#holdChannel(id, result);
  }

  #holdChannel(id: string, result: Reservation | Refusal): ChannelSlot {
    if (result.kind === "refused") return "full";
    this.#channelId = id;
    this.#context.reservations.add(id);
    return "reserved";
  }

  /** The attempt failed without an answer: the request counts on the channel, nothing else. */
  releaseChannel(): Pending {
    return this.#settleChannel({ ...zeroAmounts, requests: 1n });
  }

  settleReply(reading: ReplyReading): Pending {
    return this.#settleReported(reading.usage, reading.producedText);
  }

  settleStream(meter: StreamMeter): Pending {
    // Left before its end, an upstream has not counted everything that it said.
    if (meter.isCut === true) {
      return this.#estimated(meter.usage, meter.producedText()).then((estimated) => this.#settle(estimated, true));
    }
    return this.#settleReported(meter.usage, () => meter.producedText());
  }

  /** The answer did not become whole. @param isSent the upstream may have worked on it */
  async settlePartial(meter: StreamMeter | undefined, isSent: boolean): Promise<void> {
    if (meter?.isComplete === true && meter.usage !== undefined) await this.settleStream(meter);
    else if (!isSent) await this.#settle(zeroUsage, false);
    else await this.#settle(await this.#estimated(meter?.usage, meter?.producedText() ?? ""), true);
  }

  /**
   * Gives back whatever is still held. Nothing was consumed: a call that was tried counts as a request, a refusal of
   * the gateway's own costs nothing. Does nothing when all was settled before.
   */
  release(): Pending {
    const amounts: Amounts = { ...zeroAmounts, requests: this.#context.record.attempts > 0 ? 1n : 0n };
    const channel = this.#settleChannel(amounts);
    const posted = this.#isSettled ? undefined : this.#post(amounts);
    return posted === undefined ? channel : posted.then(() => channel);
  }

  /** Settles by the upstream's own numbers where they can be true; a whole answer never took nothing. */
  #settleReported(usage: TokenUsage | undefined, producedText: () => string): Pending {
    if (usage === undefined || inputTokens(usage) + outputTokens(usage) === 0) {
      return this.#estimated(undefined, producedText()).then((estimated) => this.#settle(estimated, true));
    }
    const { candidates, log, record, route } = this.#context;
    const bounded = boundUsage(usage, { contextWindow: route.info?.contextWindow, candidates });
    if (bounded !== usage) {
      log.warn("an upstream reported more tokens than the model's context holds; charged up to that", {
        request: record.requestId,
        channel: record.channel,
        input: inputTokens(usage),
        output: outputTokens(usage),
      });
    }
    return this.#settle(bounded, bounded !== usage);
  }

  /** Fills what the upstream did not say: its partial numbers are floors, produced text is counted. */
  async #estimated(partial: TokenUsage | undefined, producedText: string): Promise<TokenUsage> {
    const { call, candidates, estimateTokens, route } = this.#context;
    const produced = producedText === "" ? 0 : await estimateTokens(producedText);
    if (partial !== undefined && inputTokens(partial) > 0) {
      const bounded = boundUsage(partial, { contextWindow: route.info?.contextWindow, candidates });
      return { ...bounded, output: Math.max(bounded.output, produced - bounded.reasoning) };
    }
    return { ...zeroUsage, input: await estimateTokens(promptText(call.body.bytes)), output: produced };
  }

  #settle(usage: TokenUsage, isEstimated: boolean): Pending {
    const { metrics, record, route } = this.#context;
    if (this.#isSettled) return undefined;
    const { costNanos, unpriced } = computeCost(usage, route.price, { requests: 1 });
    for (const name of unpriced) metrics.usedUnpriced(record.route, name);
    record.usage = usage;
    record.costNanos = costNanos;
    record.isEstimated = isEstimated;
    const amounts: Amounts = {
      requests: 1n,
      inputTokens: BigInt(inputTokens(usage)),
      outputTokens: BigInt(outputTokens(usage)),
      costNanos,
    };
    const posted = this.#post(amounts);
    const settled = this.#settleChannel(amounts);
    return posted === undefined ? settled : posted.then(() => settled);
  }

  #post(amounts: Amounts): Pending {
    this.#isSettled = true;
    this.#context.reservations.delete(this.#id);
    const startedMs = performance.now();
    const outcome = this.#context.ledger.settle(this.#id, amounts);
    if (outcome instanceof Promise) return outcome.then(() => this.#posted(startedMs));
    this.#posted(startedMs);
    return undefined;
  }

  #posted(startedMs: number): void {
    this.#context.metrics.ledgerTook("settle", performance.now() - startedMs);
  }

  #settleChannel(amounts: Amounts): Pending {
    const id = this.#channelId;
    if (id === undefined) return undefined;
    this.#channelId = undefined;
    this.#context.reservations.delete(id);
    const outcome = this.#context.ledger.settle(id, amounts);
    return outcome instanceof Promise ? outcome.then(() => undefined) : undefined;
  }
}
