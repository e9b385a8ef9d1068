/**
 * Settles a chat call by its tokens.
 *
 * The numbers are the upstream's own where it reported any. Where it did not (a cut, a client that left, a provider
 * without usage), a tokenizer counts the produced text and the prompt, and the call is flagged as estimated. Such a
 * call is never free after a byte was produced, and never costs the whole reservation (docs/design/reliability.md H2).
 */

import type { Claims } from "#proxy/admit/claims";
import { attachmentTokens, type ChatEstimate } from "#proxy/admit/estimate-cost";
import type { Amounts } from "#proxy/admit/ledger";
import type { ReplyReading, StreamFilter } from "#proxy/formats/format";
import type { ModelCall } from "#proxy/formats/model-call";
import { isNothing, nothingProduced, type Produced } from "#proxy/formats/stream/produced";
import type { TurnSoFar } from "#proxy/formats/turn-splicer";
import type { ScannedObject } from "#proxy/json/strict-json";
import { roughTokensOf } from "#proxy/settle/estimate-tokens";
import { boundUsage } from "#proxy/settle/plausible-usage";
import { readPrompt } from "#proxy/settle/prompt-text";
import { inputTokens, outputTokens, type TokenUsage, zeroUsage } from "#proxy/settle/usage";
import type { Channel } from "#proxy/snapshot/types.gen";
import type { Pending } from "./held-reservations.ts";
import { CallSettlement, type SettlementContext } from "./settle-call.ts";

/** A call whose reply is text: a chat call, or one of completions. */
export interface TextGeneration extends ModelCall {
  readonly body: ScannedObject;
  readonly attachments: number;
  /** Tokens that the prompt names by their numbers, beside its text; none when absent. */
  readonly tokenIds?: number;
}

/** What a call whose reply is text is settled by. */
export type ChatSettlementContext<Call extends TextGeneration = TextGeneration> = SettlementContext<Call, ChatEstimate>;

export class ChatSettlement extends CallSettlement<TextGeneration, ChatEstimate> {
  /** For the caller, so far. */
  #reserved: Amounts;
  /** Of the upstream, for one reply: each may fill the model's context window. */
  #requests: number;
  /** Of one request. */
  readonly #candidates: number;
  /** As it was before the request that runs; undefined in the first one. */
  #turn: TurnSoFar | undefined;
  /** The estimated usage that the client gets, beside the usage that the upstream had reported. */
  #clientUsage: { readonly partial: TokenUsage | undefined; readonly usage: TokenUsage } | undefined;

  /** @param prompts of the call, each of which is read alone: the candidates of the estimate are those of all of them */
  constructor(context: ChatSettlementContext, prompts = 1) {
    super(context);
    this.#requests = prompts;
    this.#candidates = context.estimate.candidates / prompts;
    this.#reserved = context.estimate.amounts;
  }

  /**
   * A turn that the provider paused takes one more request: reserves what that adds to what is held.
   * @param need of all its requests, for caller and channel alike
   * @param turn as it is before that request
   * @returns whether there is room for it
   */
  async reserveRequest(claims: Claims, channel: Channel, need: Amounts, turn: TurnSoFar): Promise<boolean> {
    const { route, call } = this.context;
    const more = beyond(need, this.#reserved);
    const hasRoom =
      (await this.held.extendCaller(claims, more)) &&
      (await this.held.extendChannel(channel, route, call.model, { ...more, requests: 1n }));
    if (!hasRoom) return false;
    this.#reserved = need;
    this.#requests += 1;
    this.#turn = turn;
    return true;
  }

  /** A paused turn went on: what it said before is paid for, whatever the request that runs has said. */
  override get hasContinued(): boolean {
    return this.#turn !== undefined;
  }

  override settleReply(reading: ReplyReading): Pending {
    return this.#settleReported(reading.usage, reading.produced);
  }

  override settleStream(filter: StreamFilter): Pending {
    // Left before its end, an upstream has not counted everything that it said.
    if (filter.isCut === true) return this.#settleEstimated(filter.usage, filter.produced());
    return this.#settleReported(filter.usage, () => filter.produced());
  }

  /** The reply was stopped before it was whole. @param isSent the upstream may have worked on it */
  override async settleStopped(filter: StreamFilter | undefined, isSent: boolean): Promise<void> {
    if (isSent) await this.#settlePartial(filter, true);
    else await this.settleRequest();
  }

  /** The upstream broke off or refused: a request that goes on with a turn, and of which nothing came, took nothing. */
  override async settleBroken(filter: StreamFilter | undefined): Promise<void> {
    await this.#settlePartial(filter, this.#turn === undefined);
  }

  async #settlePartial(filter: StreamFilter | undefined, tookPrompt: boolean): Promise<void> {
    const isCounted = filter?.usage !== undefined || this.#clientUsage !== undefined;
    if (filter?.isComplete === true && isCounted) await this.settleStream(filter);
    else {
      const produced = filter === undefined ? nothingProduced : producedBy(filter);
      await this.charge(await this.#estimated(filter?.usage, produced, tookPrompt), true);
    }
  }

  /** The reply was larger than anybody reads: it was generated, and nothing bounds it but what was reserved. */
  override async settleOversized(): Promise<void> {
    const { amounts } = this.context.estimate;
    const before = this.#turn?.used ?? zeroUsage;
    const input = before.input + (await this.#promptTokens(this.#turn));
    const output = Math.max(before.output, Number(amounts.outputTokens));
    await this.charge(this.#bounded({ ...before, input, output }), true);
  }

  /** Settles by the upstream's own numbers where they can be true: no whole reply took nothing, or said something for nothing. */
  #settleReported(usage: TokenUsage | undefined, produced: () => Produced): Pending {
    const uncounted = this.#uncounted(usage, produced);
    if (usage === undefined || uncounted !== undefined) {
      return this.#settleEstimated(usage, uncounted ?? nothingProduced);
    }
    const bounded = this.#bounded(usage);
    if (bounded !== usage) this.warnOfUsage(usage);
    return this.charge(bounded, bounded !== usage);
  }

  /** Output of a whole reply that must be counted here; undefined where the upstream's own numbers can be true. */
  #uncounted(usage: TokenUsage | undefined, produced: () => Produced): Produced | undefined {
    const before = this.#turn?.used ?? zeroUsage;
    if (usage === undefined || inputTokens(usage) <= inputTokens(before)) {
      const isOutputReported = usage !== undefined && outputTokens(usage) > outputTokens(before);
      return isOutputReported ? nothingProduced : produced();
    }
    if (outputTokens(usage) > outputTokens(before)) return undefined;
    const output = produced();
    return isNothing(output) ? undefined : output;
  }

  async #settleEstimated(partial: TokenUsage | undefined, produced: Produced): Promise<void> {
    const clientUsage = this.#clientUsage?.partial === partial ? this.#clientUsage?.usage : undefined;
    await this.charge(clientUsage ?? (await this.#estimated(partial, produced)), true);
  }

  /**
   * The charge for a whole reply whose upstream reported little or nothing, for clients that are told usage in any
   * case: what they are told and what is charged are then the same.
   * @returns undefined where the upstream's own numbers count
   */
  async estimateMissingUsage(
    partial: TokenUsage | undefined,
    produced: () => Produced,
  ): Promise<TokenUsage | undefined> {
    const uncounted = this.#uncounted(partial, produced);
    if (uncounted === undefined) return undefined;
    const usage = await this.#estimated(partial, uncounted);
    this.#clientUsage = { partial, usage };
    return usage;
  }

  #bounded(usage: TokenUsage): TokenUsage {
    const { contextWindow } = this.context.route.info ?? {};
    return boundUsage(usage, { contextWindow, candidates: this.#candidates, requests: this.#requests });
  }

  /**
   * Fills what the upstream did not say: its partial numbers are floors, produced output is counted. Of a turn that went
   * on it is the request that runs which lacks them.
   * @param tookPrompt also where nothing came of that request
   */
  async #estimated(
    partial: TokenUsage | undefined,
    { text, imageTokens, audioTokens }: Produced,
    tookPrompt = true,
  ): Promise<TokenUsage> {
    const turn = this.#turn;
    const before = turn?.used ?? zeroUsage;
    const reported = this.#bounded(partial ?? before);
    const produced = (await this.#tokensOf(text)) - (await this.#tokensOf(turn?.text ?? ""));
    const lacksPrompt = (tookPrompt || produced > 0) && inputTokens(reported) <= inputTokens(before);
    return this.#bounded({
      ...reported,
      input: lacksPrompt ? reported.input + (await this.#promptTokens(turn)) : reported.input,
      output: Math.max(reported.output, before.output + produced - (reported.reasoning - before.reasoning)),
      imageOutput: atLeast(reported.imageOutput, imageTokens, outputTokens(reported)),
      audioOutput: atLeast(reported.audioOutput, audioTokens, outputTokens(reported)),
    });
  }

  async #tokensOf(text: string): Promise<number> {
    return text === "" ? 0 : await this.context.services.estimateTokens(text);
  }

  /** Of one request: what goes on with a turn reads what the request before it read and said. */
  async #promptTokens(turn: TurnSoFar | undefined): Promise<number> {
    if (turn !== undefined) return inputTokens(turn.last) + outputTokens(turn.last);
    const { call, services } = this.context;
    const { text, bytesBeyond } = readPrompt(call.body.bytes);
    const rest = roughTokensOf(bytesBeyond) + call.attachments * attachmentTokens + (call.tokenIds ?? 0);
    return (await services.estimateTokens(text)) + rest;
  }
}

/** The part of the amounts above those held, without requests: those are the caller's. */
function beyond(need: Amounts, held: Amounts): Amounts {
  const more = (amount: bigint, reserved: bigint): bigint => (amount > reserved ? amount - reserved : 0n);
  return {
    requests: 0n,
    inputTokens: more(need.inputTokens, held.inputTokens),
    outputTokens: more(need.outputTokens, held.outputTokens),
    costNanos: more(need.costNanos, held.costNanos),
  };
}

/**
 * Media that nobody counted apart may be among the tokens that were reported: those are charged once.
 * @param known tokens of the class, of `reported` in all
 */
function atLeast(known: number, produced: number, reported: number): number {
  return Math.max(known, produced - (reported - known));
}

/** Something was produced of which nobody can count anything: never for nothing. */
const producedUnseen: Produced = { text: "?", imageTokens: 0, audioTokens: 0 };

function producedBy(filter: StreamFilter): Produced {
  const produced = filter.produced();
  return filter.hasContent && isNothing(produced) ? producedUnseen : produced;
}
