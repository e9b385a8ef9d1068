/**
 * Brings the price of a route to rates: units of 10^-12 credits for each piece of each class, once for each price (PURE).
 *
 * Prices are micro-credits per million tokens or characters, which is the same number of units per piece; a price of a
 * single piece is a million times as many. Classes without a price take that of the class that contains them
 * (docs/design/limits-and-money.md 10).
 */
import type { Route } from "#proxy/snapshot/types.gen";
import type { TokenUsage } from "./usage.ts";

type Price = NonNullable<Route["price"]>;

/** Units of 10^-12 credits for each piece of a class. */
interface Rate {
  readonly exact: bigint;
  /** The same as a number, NaN where it is no exact double. */
  readonly narrow: number;
}

/** Micro-credits in units of 10^-12 credits, for prices of single pieces. */
export const picosPerMicro = 1_000_000n;

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
} as const;

export class CompiledPrice {
  readonly #rates: ReadonlyMap<keyof TokenUsage, Rate>;
  /** 0 where there is no price per request. */
  readonly request: Rate;
  /** Per character spoken; undefined, here and below: the route has no such price. */
  readonly character: bigint | undefined;
  /** Thirds of the unit for each millisecond of audio: that of a price per minute is no whole number of units. */
  readonly audioMillisecondThirds: bigint | undefined;
  readonly #input: number;
  readonly #output: number;
  readonly #cacheRead: number;
  readonly #reasoning: number;

  constructor(price: Price) {
    const rates = new Map<keyof TokenUsage, Rate>();
    const set = (name: keyof TokenUsage, amount: bigint | undefined): void => {
      if (amount !== undefined) rates.set(name, rateOf(amount));
    };
    for (const name of usageClasses) {
      if (name === "searches") set(name, price.search === undefined ? undefined : BigInt(price.search) * picosPerMicro);
      else set(name, firstAmount(price, fieldsOf[name]));
    }
    if (price.cacheWrite1h === undefined && price.input !== undefined) set("cacheWrite1h", 2n * BigInt(price.input));
    this.#rates = rates;
    this.request = rateOf(BigInt(price.request ?? "0") * picosPerMicro);
    this.character = price.characters === undefined ? undefined : BigInt(price.characters);
    this.audioMillisecondThirds = price.audioMinute === undefined ? undefined : BigInt(price.audioMinute) * 50n;
    this.#input = this.#narrow("input");
    this.#output = this.#narrow("output");
    this.#cacheRead = this.#narrow("cacheRead");
    this.#reasoning = this.#narrow("reasoning");
  }

  /** @returns undefined where the class has neither a price nor a fallback */
  rate(name: keyof TokenUsage): Rate | undefined {
    return this.#rates.get(name);
  }

  /** Units for text, which most calls use and nothing else. @returns NaN where that is not all, or not priced */
  ofText(usage: TokenUsage): number {
    const { input, output, cacheRead, reasoning } = usage;
    const others = usage.cacheWrite + usage.cacheWrite1h + usage.audioInput + usage.audioOutput;
    if (others + usage.imageInput + usage.imageOutput + usage.searches > 0) return Number.NaN;
    const cached = cacheRead === 0 ? 0 : cacheRead * this.#cacheRead;
    const thought = reasoning === 0 ? 0 : reasoning * this.#reasoning;
    const produced = output === 0 ? 0 : output * this.#output;
    return input * this.#input + produced + cached + thought;
  }

  #narrow(name: keyof TokenUsage): number {
    return this.#rates.get(name)?.narrow ?? Number.NaN;
  }
}

export const usageClasses: readonly (keyof TokenUsage)[] = [
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
];

const compiled = new WeakMap<Price, CompiledPrice>();

/** @returns the same object for the same price: routes keep theirs for many calls */
export function compilePrice(price: Price): CompiledPrice {
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
