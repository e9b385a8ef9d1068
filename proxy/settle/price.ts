/**
 * Computes the cost of a call: tokens of each class times the route's price, summed exactly and rounded up once
 * (docs/design/limits-and-money.md 2 and 10).
 *
 * Prices are micro-credits per million tokens, so tokens x price counts units of 10^-12 credits; nothing is rounded
 * before the sum is brought to nano-credits. Hence cost is additive before the rounding and monotone after it. Pure.
 */
import type { Route } from "#proxy/snapshot/types.gen";
import type { TokenUsage } from "./usage.ts";

export type Price = NonNullable<Route["price"]>;

/** A class of usage that can carry a price. */
export type PricedClass = keyof TokenUsage | "characters";

/** What is charged besides the usage reported. */
export interface ChargedExtras {
  /** Calls that are charged `request`: 1, or 0 where only a part of one is priced. */
  readonly requests: number;
  /** Characters of speech input. */
  readonly characters?: number;
}

export interface Cost {
  readonly costNanos: bigint;
  /** Classes that were used and have neither a price nor a fallback; they cost nothing. */
  readonly unpriced: readonly PricedClass[];
}

/** Units of 10^-12 credits for each piece of a class; undefined: unpriced. */
interface Rate {
  readonly exact: bigint;
  /** The same as a number, NaN where it is no exact double. */
  readonly narrow: number;
}

const picosPerNano = 1_000;
/** Micro-credits in units of 10^-12 credits, for prices of single pieces. */
const picosPerMicro = 1_000_000n;

const fieldsOf = {
  input: ["input"],
  cacheRead: ["cachedInput", "input"],
  cacheWrite: ["cacheWrite", "input"],
  cacheWrite1h: ["cacheWrite1h"],
  output: ["output"],
  reasoning: ["reasoning", "output"],
  audioInput: ["audioInput", "input"],
  audioOutput: ["audioOutput", "output"],
  imageInput: ["imageInput", "input"],
  imageOutput: ["imageOutput", "output"],
  characters: ["characters"],
} as const;

class CompiledPrice {
  readonly #rates: ReadonlyMap<PricedClass, Rate>;
  readonly request: Rate;
  readonly #input: number;
  readonly #output: number;
  readonly #cacheRead: number;
  readonly #reasoning: number;

  constructor(price: Price) {
    const rates = new Map<PricedClass, Rate>();
    const set = (name: PricedClass, amount: bigint | undefined): void => {
      if (amount !== undefined) rates.set(name, rateOf(amount));
    };
    for (const name of classes) {
      if (name === "searches") set(name, price.search === undefined ? undefined : BigInt(price.search) * picosPerMicro);
      else set(name, firstAmount(price, fieldsOf[name]));
    }
    if (price.cacheWrite1h === undefined && price.input !== undefined) set("cacheWrite1h", 2n * BigInt(price.input));
    this.#rates = rates;
    this.request = rateOf(BigInt(price.request ?? "0") * picosPerMicro);
    this.#input = this.#narrow("input");
    this.#output = this.#narrow("output");
    this.#cacheRead = this.#narrow("cacheRead");
    this.#reasoning = this.#narrow("reasoning");
  }

  rate(name: PricedClass): Rate | undefined {
    return this.#rates.get(name);
  }

  /** Units for text, which most calls use and nothing else. @returns NaN where that is not all, or not priced */
  ofText(usage: TokenUsage): number {
    const { input, output, cacheRead, reasoning } = usage;
    const others = usage.cacheWrite + usage.cacheWrite1h + usage.audioInput + usage.audioOutput;
    if (others + usage.imageInput + usage.imageOutput + usage.searches > 0) return Number.NaN;
    const cached = cacheRead === 0 ? 0 : cacheRead * this.#cacheRead;
    const thought = reasoning === 0 ? 0 : reasoning * this.#reasoning;
    return input * this.#input + output * this.#output + cached + thought;
  }

  #narrow(name: PricedClass): number {
    return this.#rates.get(name)?.narrow ?? Number.NaN;
  }
}

const classes: readonly PricedClass[] = [
  "input",
  "cacheRead",
  "cacheWrite",
  "cacheWrite1h",
  "output",
  "reasoning",
  "audioInput",
  "audioOutput",
  "imageInput",
  "imageOutput",
  "searches",
  "characters",
];

const compiled = new WeakMap<Price, CompiledPrice>();

function compile(price: Price): CompiledPrice {
  let result = compiled.get(price);
  if (result === undefined) {
    result = new CompiledPrice(price);
    compiled.set(price, result);
  }
  return result;
}

function firstAmount(price: Price, fields: readonly Exclude<keyof Price, "images">[]): bigint | undefined {
  for (const field of fields) {
    const amount = price[field];
    if (amount !== undefined) return BigInt(amount);
  }
  return undefined;
}

function rateOf(exact: bigint): Rate {
  return { exact, narrow: exact <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(exact) : Number.NaN };
}

/**
 * Cost of one call.
 *
 * @param price undefined: the route has none, and everything used is unpriced
 */
export function computeCost(usage: TokenUsage, price: Route["price"], extras: ChargedExtras): Cost {
  const prices = price === undefined ? undefined : compile(price);
  if (prices !== undefined && extras.characters === undefined) {
    const picos = extras.requests * prices.request.narrow + prices.ofText(usage);
    if (picos <= Number.MAX_SAFE_INTEGER) return { costNanos: roundUp(picos), unpriced: nothingUnpriced };
  }
  return costOfEach(usage, prices, extras);
}

/** Class by class. */
function costOfEach(usage: TokenUsage, prices: CompiledPrice | undefined, extras: ChargedExtras): Cost {
  let unpriced: PricedClass[] | undefined;
  // A sum of exact products, none negative, is exact while it stays below 2^53; else (NaN too) bigints take over.
  let picos = prices === undefined ? 0 : extras.requests * prices.request.narrow;
  for (const name of classes) {
    const count = countOf(name, usage, extras);
    if (count === 0) continue;
    const rate = prices?.rate(name);
    if (rate !== undefined) picos += count * rate.narrow;
    else {
      unpriced ??= [];
      unpriced.push(name);
    }
  }
  const costNanos = picos <= Number.MAX_SAFE_INTEGER ? roundUp(picos) : exactCost(usage, prices, extras);
  return { costNanos, unpriced: unpriced ?? nothingUnpriced };
}

const nothingUnpriced: readonly PricedClass[] = [];

function countOf(name: PricedClass, usage: TokenUsage, extras: ChargedExtras): number {
  return name === "characters" ? (extras.characters ?? 0) : usage[name];
}

function roundUp(picos: number): bigint {
  const rest = picos % picosPerNano;
  return BigInt((picos - rest) / picosPerNano + (rest > 0 ? 1 : 0));
}

function exactCost(usage: TokenUsage, prices: CompiledPrice | undefined, extras: ChargedExtras): bigint {
  let picos = BigInt(extras.requests) * (prices?.request.exact ?? 0n);
  for (const name of classes) {
    picos += BigInt(countOf(name, usage, extras)) * (prices?.rate(name)?.exact ?? 0n);
  }
  return (picos + BigInt(picosPerNano - 1)) / BigInt(picosPerNano);
}
