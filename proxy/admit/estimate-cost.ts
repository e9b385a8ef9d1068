/**
 * What a call may need, reserved before it is sent (DESIGN.md section 6). Pure.
 *
 * Input, `inputEstimate: Estimate`: one token for every 3 bytes of text (English has about 4, code and other scripts
 * 2 to 3), 1,600 for each attachment (what the dearest of the usual image encodings takes), 16 for the format's own
 * frame. `Upper`: one token for every byte of the body, since no tokenizer makes more tokens than there are bytes,
 * and the dearest class that text can fall into, so that for text no cost exceeds its reservation.
 *
 * Output: the call's own cap, else the smaller of the model's most and `defaultOutputReserve`, for each candidate.
 */
import { GatewayError } from "../errors.ts";
import type { ChatCall } from "../protocols/chat-format.ts";
import { computeCost, isPricedFor, type Price } from "../settle/price.ts";
import { zeroUsage } from "../settle/usage.ts";
import type { Fleet, Route } from "../snapshot/types.gen.ts";
import type { CallerClaims } from "./claims.ts";
import type { Amounts } from "./ledger.ts";

const bytesPerToken = 3;
const attachmentTokens = 1_600;
const frameTokens = 16;

/** What of a call the estimate looks at. */
export type EstimatedCall = Pick<ChatCall, "model" | "textBytes" | "attachments" | "outputCap" | "candidates"> & {
  readonly body: { readonly bytes: Buffer };
};

export interface Estimate {
  readonly amounts: Amounts;
  /** Output tokens reserved for each candidate. */
  readonly outputReserve: number;
  /** Sent upstream as the cap (`unboundedOutput: Cap`) when the client set none; undefined: send none. */
  readonly outputCap: number | undefined;
}

/**
 * @param claims of the caller: under a limit in credits or a balance the route must have a price
 * @throws GatewayError `model_not_allowed` when it has none: nothing would ever stop the spending
 */
export function estimateCost(
  call: EstimatedCall,
  route: Route,
  fleet: Fleet,
  claims: Pick<CallerClaims, "needsPrice">,
): Estimate {
  if (claims.needsPrice && !isPricedFor(route.price)) {
    const message = `The model \`${call.model}\` has no price, and your API key may only spend a limited amount.`;
    throw new GatewayError("model_not_allowed", message, { param: "model" });
  }
  const isUpper = fleet.inputEstimate === "Upper";
  const text = isUpper ? call.body.bytes.length : Math.ceil(call.textBytes / bytesPerToken) + frameTokens;
  const input = text + call.attachments * attachmentTokens;
  const outputReserve = call.outputCap ?? defaultReserve(route, fleet);
  const output = Math.min(outputReserve * call.candidates, Number.MAX_SAFE_INTEGER);
  const costNanos = isUpper ? upperCost(input, output, route.price) : textCost(input, output, route.price);
  return {
    amounts: { requests: 1n, inputTokens: BigInt(input), outputTokens: BigInt(output), costNanos },
    outputReserve,
    outputCap: call.outputCap === undefined && fleet.unboundedOutput === "Cap" ? outputReserve : undefined,
  };
}

function defaultReserve(route: Route, fleet: Fleet): number {
  return Math.min(route.info?.maxOutputTokens ?? Number.POSITIVE_INFINITY, fleet.defaultOutputReserve);
}

function textCost(input: number, output: number, price: Route["price"]): bigint {
  return computeCost({ ...zeroUsage, input, output }, price, { requests: 1 }).costNanos;
}

const textInputs = ["input", "cacheRead", "cacheWrite", "cacheWrite1h"] as const;
const textOutputs = ["output", "reasoning"] as const;
type TextClass = (typeof textInputs)[number] | (typeof textOutputs)[number];

/** Cache writes and reasoning may cost more than plain tokens: the dearest class of each side. */
const dearest = new WeakMap<Price, { readonly input: TextClass; readonly output: TextClass }>();

function upperCost(input: number, output: number, price: Route["price"]): bigint {
  if (price === undefined) return 0n;
  let classes = dearest.get(price);
  if (classes === undefined) {
    classes = { input: dearestOf(textInputs, price), output: dearestOf(textOutputs, price) };
    dearest.set(price, classes);
  }
  const usage = { ...zeroUsage, [classes.input]: input, [classes.output]: output };
  return computeCost(usage, price, { requests: 1 }).costNanos;
}

function dearestOf(names: readonly TextClass[], price: Price): TextClass {
  const million = (name: TextClass): bigint =>
    computeCost({ ...zeroUsage, [name]: 1_000_000 }, price, { requests: 0 }).costNanos;
  return names.reduce((found, name) => (million(name) > million(found) ? name : found));
}
