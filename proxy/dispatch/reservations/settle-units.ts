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
import { inputTokens, outputTokens, type TokenUsage, withoutOutput, zeroUsage } from "#proxy/settle/usage";
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
  measure?(reply: StreamFilter | ReplyReading): MeasuredUnits | Promise<MeasuredUnits> | undefined;
  /**
   * Tokens of what a whole reply produced, and of nothing else: charged where its upstream reports none of them. Asked behind
   * `measure`. Absent: replies of the endpoint are nothing that is charged by the token.
   */
  output?(reply: StreamFilter | ReplyReading): TokenUsage | Promise<TokenUsage>;
  /** What a whole reply that is too long to be read is charged by the piece. Absent: as of a call that broke off. */
  unread?(): ChargedUnits;
  /**
   * What was used of a call that was sent and has no whole reply: what it asked the upstream to read, at least.
   * @param filter of the part that came, if any
   */
  partial(filter: StreamFilter | undefined): UsedUnits | Promise<UsedUnits>;
}

/** What is known of a whole reply of which something must be counted. */
interface ReportedUnits extends UsedUnits {
  readonly lacksInput: boolean;
  readonly isEstimated: boolean;
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
    const measured = this.#counter.measure?.(reply);
    if (measured instanceof Promise) return measured.then((more) => this.#settleWhole(reply, more));
    return this.#settleWhole(reply, measured);
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
    await this.#chargeUnits(this.#bounded(mostOf(usage, filter?.usage ?? zeroUsage)), true, units);
  }

  override async settleOversized(): Promise<void> {
    const units = this.#counter.unread?.() ?? (await this.#counter.partial(undefined)).units;
    const charged = { ...units, ...this.#counter.units };
    await this.#chargeUnits(await this.#counter.tokens(charged), true, charged);
  }

  #settleWhole(reply: StreamFilter | ReplyReading, measured: MeasuredUnits | undefined): Pending {
    const { usage = zeroUsage } = reply;
    const hasUnits = (this.#counter.units ?? measured?.units ?? reply.units) !== undefined;
    const units = hasUnits ? { ...this.#counter.units, ...measured?.units, ...reply.units } : undefined;
    const isEstimated = measured?.isEstimated ?? false;
    const lacksInput = inputTokens(usage) === 0;
    if (lacksInput || (outputTokens(usage) === 0 && this.#counter.output !== undefined)) {
      return this.#settleCounted(reply, { usage, units, lacksInput, isEstimated });
    }
    const bounded = this.#bounded(usage);
    if (bounded !== usage) this.warnOfUsage(usage);
    return this.#chargeUnits(bounded, isEstimated || bounded !== usage, units);
  }

  /** What the upstream left out is counted here: no reply read nothing, and none said something for nothing. */
  async #settleCounted(reply: StreamFilter | ReplyReading, reported: ReportedUnits): Promise<void> {
    const { usage, units, lacksInput } = reported;
    const lacksOutput = outputTokens(usage) === 0;
    const counted = lacksInput ? await this.#counter.tokens(units) : zeroUsage;
    const written = (lacksOutput ? await this.#counter.output?.(reply) : undefined) ?? zeroUsage;
    const all = mostOf(usage, lacksOutput ? counted : withoutOutput(counted), written);
    const isCounted = usageClasses.some((name) => all[name] > usage[name]);
    if (this.#bounded(usage) !== usage) this.warnOfUsage(usage);
    await this.#chargeUnits(this.#bounded(all), reported.isEstimated || isCounted, units);
  }

  #bounded(usage: TokenUsage): TokenUsage {
    const { contextWindow } = this.context.route.info ?? {};
    return boundUsage(usage, { contextWindow, candidates: 1, requests: this.#counter.parts });
  }

  #chargeUnits(usage: TokenUsage, isEstimated: boolean, units: ChargedUnits | undefined): Pending {
    return this.charge(usage, isEstimated, { ...units, requests: 1, isPricedByUnit: true });
  }
}

/** The highest number of each class. */
function mostOf(...usages: readonly TokenUsage[]): TokenUsage {
  const most: Record<keyof TokenUsage, number> = { ...zeroUsage };
  for (const usage of usages) for (const name of usageClasses) most[name] = Math.max(most[name], usage[name]);
  return most;
}
