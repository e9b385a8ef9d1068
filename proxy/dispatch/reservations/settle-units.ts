/**
 * Settles a call that is no chat by what it used: tokens where the upstream reports them, and what the price counts by
 * the piece (docs/design/limits-and-money.md 12).
 *
 * Each endpoint brings a counter for what its upstreams do not report. A call that an upstream worked on is never free,
 * and never costs the whole reservation unless that was used (docs/design/reliability.md H2).
 */
import type { ReplyReading, StreamFilter } from "#proxy/formats/format";
import type { ModelCall } from "#proxy/formats/model-call";
import { usageClasses } from "#proxy/settle/compiled-price";
import { boundUsage } from "#proxy/settle/plausible-usage";
import type { ChargedUnits } from "#proxy/settle/price";
import { inputTokens, type TokenUsage, zeroUsage } from "#proxy/settle/usage";
import type { Pending } from "./held-reservations.ts";
import { CallSettlement, type SettlementContext } from "./settle-call.ts";

/** What was used of a call. */
export interface UsedUnits {
  readonly usage: TokenUsage;
  /** By the piece; nothing unless given. */
  readonly units?: ChargedUnits | undefined;
}

export interface MeasuredUnits {
  readonly units: ChargedUnits;
  /** Neither the upstream nor what it sent tells: the charge is an estimate. */
  readonly isEstimated: boolean;
}

/** Counts what one call used, where its upstream does not say. */
export interface UnitCounter {
  /** Inputs of the call, each of which may fill the model's context window. */
  readonly parts: number;
  /** What a whole reply is charged by the piece, whatever the upstream reports; the reply's own numbers win. */
  readonly units?: ChargedUnits | undefined;
  /** Tokens of a whole reply without usage. @param units what it is charged by the piece */
  tokens(units?: ChargedUnits): TokenUsage | Promise<TokenUsage>;
  /**
   * What a whole reply is charged by the piece that can only be measured behind its end; undefined: nothing more. It is
   * asked once, before `tokens`.
   */
  measure?(reply: StreamFilter | ReplyReading): Promise<MeasuredUnits> | undefined;
  /**
   * What was used of a call that was sent and has no whole reply: what it asked the upstream to read, at least.
   * @param filter of the part that came, if any
   */
  partial(filter: StreamFilter | undefined): UsedUnits | Promise<UsedUnits>;
}

export class UnitSettlement<Call extends ModelCall = ModelCall> extends CallSettlement<Call> {
  readonly hasContinued = false;
  readonly #counter: UnitCounter;

  constructor(context: SettlementContext<Call>, counter: UnitCounter) {
    super(context);
    this.#counter = counter;
  }

  override settleReply(reading: ReplyReading): Pending {
    return this.#settleMeasured(reading);
  }

  override settleStream(filter: StreamFilter): Pending {
    return this.#settleMeasured(filter);
  }

  #settleMeasured(reply: StreamFilter | ReplyReading): Pending {
    const { usage, units } = reply;
    const measured = this.#counter.measure?.(reply);
    if (measured === undefined) return this.#settleWhole(usage, units);
    return measured.then((more) => this.#settleWhole(usage, { ...more.units, ...units }, more.isEstimated));
  }

  override async settleStopped(filter: StreamFilter | undefined, isSent: boolean): Promise<void> {
    if (isSent) await this.settleBroken(filter);
    else await this.settleRequest();
  }

  override async settleBroken(filter: StreamFilter | undefined): Promise<void> {
    if (filter?.isComplete === true) {
      await this.settleStream(filter);
      return;
    }
    const { usage, units } = await this.#counter.partial(filter);
    await this.#chargeUnits(usage, true, units);
  }

  override async settleOversized(): Promise<void> {
    const { units } = await this.#counter.partial(undefined);
    const charged = { ...units, ...this.#counter.units };
    await this.#chargeUnits(await this.#counter.tokens(charged), true, charged);
  }

  #settleWhole(usage: TokenUsage | undefined, units: ChargedUnits | undefined, isEstimated = false): Pending {
    const charged = units === undefined ? this.#counter.units : { ...this.#counter.units, ...units };
    if (usage === undefined || inputTokens(usage) === 0) {
      return this.#settleCounted(usage ?? zeroUsage, charged, isEstimated);
    }
    const bounded = this.#bounded(usage);
    if (bounded !== usage) this.warnOfUsage(usage);
    return this.#chargeUnits(bounded, isEstimated || bounded !== usage, charged);
  }

  /** What the upstream left out is counted here: no reply read nothing. */
  async #settleCounted(reported: TokenUsage, units: ChargedUnits | undefined, isEstimated: boolean): Promise<void> {
    const counted = await this.#counter.tokens(units);
    const usage: Record<keyof TokenUsage, number> = { ...zeroUsage };
    let isCounted = isEstimated;
    for (const name of usageClasses) {
      usage[name] = Math.max(counted[name], reported[name]);
      isCounted ||= usage[name] > reported[name];
    }
    await this.#chargeUnits(this.#bounded(usage), isCounted, units);
  }

  #bounded(usage: TokenUsage): TokenUsage {
    const { contextWindow } = this.context.route.info ?? {};
    return boundUsage(usage, { contextWindow, candidates: 1, requests: this.#counter.parts });
  }

  #chargeUnits(usage: TokenUsage, isEstimated: boolean, units: ChargedUnits | undefined): Pending {
    return this.charge(usage, isEstimated, { ...units, requests: 1, isPricedByUnit: true });
  }
}
