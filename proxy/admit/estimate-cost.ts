/**
 * Estimates the most that a call may need, so that it is reserved before the call is sent
 * (docs/design/limits-and-money.md 4). Pure.
 *
 * Input, `inputEstimate: Estimate`: one token for every 3 bytes of text (English has about 4, code and other scripts 2
 * to 3), 1,600 for each attachment (the cost in the dearest of the usual image encodings), 16 for the format's own
 * frame. `Upper`: one token for every byte of the body, since no tokenizer makes more tokens than there are bytes, and
 * the dearest class that text can fall into, so that for text no cost exceeds its reservation.
 *
 * Output: the call's own cap, else (and for a cap of 0) the smaller of the model's most and `defaultOutputReserve`,
 * for each candidate. With `unboundedOutput: Cap` a call without a cap of its own gets this number as its cap, or what
 * its balance affords where that is less: an account that runs dry ends with shorter replies, and never below zero.
 */
import type { ChatCall } from "#proxy/formats/format";
import { computeCost, type Price } from "#proxy/settle/price";
import { inputTokens, outputTokens, type TokenUsage, zeroUsage } from "#proxy/settle/usage";
import type { Fleet, Route } from "#proxy/snapshot/types.gen";
import { type Amounts, oneRequestAmounts } from "./ledger.ts";

export const bytesPerToken = 3;
export const attachmentTokens = 1_600;
const frameTokens = 16;
/** The least cap that every provider takes (the Responses format's own minimum); shorter replies serve nobody. */
const outputCapLeast = 16;

/** The part of a call that the estimate reads. */
export type EstimatedCall = Pick<ChatCall, "model" | "textBytes" | "attachments" | "outputCap" | "candidates"> & {
  readonly body: { readonly bytes: Buffer };
};

/** The most that any target of the route is asked to read and produce, where that is not what the client sent. */
export interface WorstCaseOutput {
  /** Output tokens of one candidate; undefined where no target gets a cap. */
  readonly outputCap: number | undefined;
  /** Some target gets no cap at all. */
  readonly isOpen: boolean;
  readonly candidates: number;
  /** Bytes of JSON that rules add to the body. */
  readonly addedBytes: number;
}

/** What a call needs at most. */
export interface Estimate {
  readonly amounts: Amounts;
}

export interface ChatEstimate extends Estimate {
  /** Candidates that the upstream may be asked for. */
  readonly candidates: number;
  /** Output tokens reserved for each candidate. */
  readonly outputReserve: number;
  /** Sent upstream as the cap (`unboundedOutput: Cap`) when the client set none; undefined: send none. */
  readonly outputCap: number | undefined;
}

/** Of a request that generates nothing. */
export const oneRequestEstimate: ChatEstimate = {
  amounts: oneRequestAmounts,
  candidates: 1,
  outputReserve: 0,
  outputCap: undefined,
};

/**
 * @param sent what rules make of the call's own cap and candidates; undefined: nothing
 * @param balanceLeft nano-credits of the caller's balance, read only where it can shorten the reply; undefined: none
 */
export function estimateCost(
  call: EstimatedCall,
  route: Route,
  fleet: Fleet,
  balanceLeft: () => bigint | undefined = () => undefined,
  sent?: WorstCaseOutput,
): ChatEstimate {
  const isUpper = fleet.inputEstimate === "Upper";
  const addedBytes = sent?.addedBytes ?? 0;
  const text = estimateTextTokens(call.textBytes + addedBytes, call.body.bytes.length + addedBytes, fleet);
  const input = text + call.attachments * attachmentTokens;
  const { outputCap, candidates } = sent ?? call;
  const isOpen = sent?.isOpen ?? outputCap === undefined;
  const outputTokens = (reserve: number): number => Math.min(reserve * candidates, Number.MAX_SAFE_INTEGER);
  const costOf = (reserve: number): bigint =>
    isUpper
      ? upperCost(input, outputTokens(reserve), route.price)
      : textCost(input, outputTokens(reserve), route.price);
  const isCapped = capsOutput(call, fleet, sent);
  // A cap of 0 warms a prompt cache at one provider and is no cap at all to some servers.
  const isReservedAsOpen = isOpen || !outputCap;
  const wanted = isReservedAsOpen ? Math.max(outputCap ?? 0, defaultReserve(route, fleet)) : outputCap;
  const outputReserve = isCapped ? affordableOutput(wanted, costOf, balanceLeft()) : wanted;
  return {
    amounts: {
      requests: 1n,
      inputTokens: BigInt(input),
      outputTokens: BigInt(outputTokens(outputReserve)),
      costNanos: costOf(outputReserve),
    },
    candidates,
    outputReserve,
    outputCap: isCapped ? outputReserve : undefined,
  };
}

/**
 * Tokens of the text that an upstream is asked to read.
 * @param textBytes of the body that are text
 * @param bodyBytes all of it
 */
export function estimateTextTokens(textBytes: number, bodyBytes: number, fleet: Fleet): number {
  return fleet.inputEstimate === "Upper" ? bodyBytes : Math.ceil(textBytes / bytesPerToken) + frameTokens;
}

/** Whether the gateway sets the output's cap: only then can a balance shorten the reply. */
export function capsOutput(call: EstimatedCall, fleet: Fleet, sent?: WorstCaseOutput): boolean {
  const isOpen = sent?.isOpen ?? call.outputCap === undefined;
  return (isOpen || call.outputCap === undefined) && fleet.unboundedOutput === "Cap";
}

/** A turn whose provider paused it, and that one more request would continue. */
export interface TurnUse {
  /** By its requests so far. */
  readonly used: TokenUsage;
  /** By the last of them: the next one reads what that read and said. */
  readonly last: TokenUsage;
  /** Output tokens that the next request may produce. */
  readonly outputCap: number;
}

/** What a turn needs with one more request, in all. @param estimate of its first request */
export function estimateTurn(
  { used, last, outputCap }: TurnUse,
  estimate: ChatEstimate,
  route: Route,
  fleet: Fleet,
): Amounts {
  const input = inputTokens(last) + outputTokens(last);
  const output = Math.min(outputCap, estimate.outputReserve);
  const costOf = fleet.inputEstimate === "Upper" ? upperCost : textCost;
  const spentNanos = computeCost(used, route.price, { requests: 1 }).costNanos;
  return {
    requests: 1n,
    inputTokens: BigInt(inputTokens(used) + input),
    outputTokens: BigInt(outputTokens(used) + output),
    costNanos: spentNanos + costOf(input, output, route.price, 0),
  };
}

/**
 * The most output tokens up to `wanted` whose cost the balance covers.
 *
 * @param costOf nano-credits of the whole call with so many output tokens; never falls as they grow
 * @param leftNanos undefined: unlimited
 * @returns `wanted` also where not even the least useful reply is affordable: the ledger then refuses the call
 */
export function affordableOutput(
  wanted: number,
  costOf: (outputTokens: number) => bigint,
  leftNanos: bigint | undefined,
): number {
  if (leftNanos === undefined || wanted <= outputCapLeast || costOf(wanted) <= leftNanos) return wanted;
  if (costOf(outputCapLeast) > leftNanos) return wanted;
  let affordable = outputCapLeast;
  let beyond = wanted;
  while (beyond - affordable > 1) {
    const middle = affordable + Math.floor((beyond - affordable) / 2);
    if (costOf(middle) <= leftNanos) affordable = middle;
    else beyond = middle;
  }
  return affordable;
}

function defaultReserve(route: Route, fleet: Fleet): number {
  return Math.min(route.info?.maxOutputTokens ?? Number.POSITIVE_INFINITY, fleet.defaultOutputReserve);
}

function textCost(input: number, output: number, price: Route["price"], requests = 1): bigint {
  return computeCost({ ...zeroUsage, input, output }, price, { requests }).costNanos;
}

const textInputs = ["input", "cacheRead", "cacheWrite", "cacheWrite1h"] as const;
const textOutputs = ["output", "reasoning"] as const;
type TextClass = (typeof textInputs)[number] | (typeof textOutputs)[number];

/** Cache writes and reasoning may cost more than plain tokens: the dearest class of each side. */
const dearest = new WeakMap<Price, { readonly input: TextClass; readonly output: TextClass }>();

function upperCost(input: number, output: number, price: Route["price"], requests = 1): bigint {
  if (price === undefined) return 0n;
  let classes = dearest.get(price);
  if (classes === undefined) {
    classes = { input: dearestOf(textInputs, price), output: dearestOf(textOutputs, price) };
    dearest.set(price, classes);
  }
  const usage = { ...zeroUsage, [classes.input]: input, [classes.output]: output };
  return computeCost(usage, price, { requests }).costNanos;
}

function dearestOf(names: readonly TextClass[], price: Price): TextClass {
  const million = (name: TextClass): bigint =>
    computeCost({ ...zeroUsage, [name]: 1_000_000 }, price, { requests: 0 }).costNanos;
  return names.reduce((found, name) => (million(name) > million(found) ? name : found));
}
