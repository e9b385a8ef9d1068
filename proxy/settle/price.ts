/**
 * Computes the cost of a call: tokens of each class times the route's price, and images, audio, characters, searches and
 * the request itself by the piece, summed exactly and rounded up once (docs/design/limits-and-money.md 2, 10 and 12).
 *
 * Prices are micro-credits per million tokens, so tokens x price counts units of 10^-12 credits; nothing is rounded
 * before the sum is brought to nano-credits. Hence cost is additive before the rounding and monotone after it. Pure.
 */
import type { Route } from "#proxy/snapshot/types.gen";
import { type CompiledPrice, compilePrice, picosPerMicro, usageClasses } from "./compiled-price.ts";
import { type ImagesMade, priceOfImage } from "./image-price.ts";
import type { TokenUsage } from "./usage.ts";

export type Price = NonNullable<Route["price"]>;

/** A class of usage that can carry a price. A closed set: these are labels of a metric. */
export type PricedClass = keyof TokenUsage | "characters" | "audio" | "images";

/** What a call used by the piece. Counts are whole and not negative. */
export interface ChargedUnits {
  /** Characters of speech input. */
  readonly characters?: number;
  /** Length of the audio that was heard or spoken. */
  readonly audioMilliseconds?: number;
  /** Images made. */
  readonly images?: readonly ImagesMade[];
}

/** What is charged besides the usage reported. */
export interface ChargedExtras extends ChargedUnits {
  /** Calls that are charged `request`: 1, or 0 where only a part of one is priced. */
  readonly requests: number;
  /**
   * One price is enough for the call, by token, by search or by request: embeddings, reranks, moderations. So are calls
   * with characters, audio or images, without saying so here.
   */
  readonly isPricedByUnit?: boolean;
}

export interface Cost {
  readonly costNanos: bigint;
  /** Classes that were used and have neither a price nor a fallback; they cost nothing. */
  readonly unpriced: readonly PricedClass[];
}

const picosPerNano = 1_000;

/**
 * Cost of one call.
 *
 * @param price undefined: the route has none, and everything used is unpriced
 */
export function computeCost(usage: TokenUsage, price: Route["price"], extras: ChargedExtras): Cost {
  const prices = price === undefined ? undefined : compilePrice(price);
  if ((extras.characters ?? extras.audioMilliseconds ?? extras.images) !== undefined) {
    return costWithUnits(usage, price, extras);
  }
  if (prices !== undefined) {
    const picos = extras.requests * prices.request.narrow + prices.ofText(usage);
    if (picos <= Number.MAX_SAFE_INTEGER) return { costNanos: roundUp(picos), unpriced: nothingUnpriced };
  }
  return extras.isPricedByUnit === true ? costWithUnits(usage, price, extras) : costOfEach(usage, prices, extras);
}

/** Class by class. */
function costOfEach(usage: TokenUsage, prices: CompiledPrice | undefined, extras: ChargedExtras): Cost {
  let unpriced: PricedClass[] | undefined;
  // A sum of exact products, none negative, is exact while it stays below 2^53; else (NaN too) bigints take over.
  let picos = prices === undefined ? 0 : extras.requests * prices.request.narrow;
  for (const name of usageClasses) {
    const count = usage[name];
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

function roundUp(picos: number): bigint {
  const rest = picos % picosPerNano;
  return BigInt((picos - rest) / picosPerNano + (rest > 0 ? 1 : 0));
}

function exactCost(usage: TokenUsage, prices: CompiledPrice | undefined, extras: ChargedExtras): bigint {
  let picos = BigInt(extras.requests) * (prices?.request.exact ?? 0n);
  for (const name of usageClasses) picos += BigInt(usage[name]) * (prices?.rate(name)?.exact ?? 0n);
  return (picos + BigInt(picosPerNano - 1)) / BigInt(picosPerNano);
}

type UnitClass = "images" | "audio" | "characters" | "searches";

/** What a call used by the piece. */
interface UnitCharge {
  /** Thirds of 10^-12 credits. */
  readonly thirds: bigint;
  /** Used and priced, each piece of it. */
  readonly priced: ReadonlySet<UnitClass>;
  /** Used, and not priced or not each piece of it. */
  readonly open: ReadonlySet<UnitClass>;
}

/** Tokens that are not charged where their call is charged for the same thing by the piece. */
const tokensOfUnit: Readonly<Record<UnitClass, readonly (keyof TokenUsage)[]>> = {
  images: ["imageOutput"],
  audio: ["audioInput", "audioOutput"],
  characters: ["input", "cacheRead", "cacheWrite", "cacheWrite1h"],
  searches: [],
};

/** Of a call that can be priced by the piece: few are, so that all of it is counted in bigints. */
function costWithUnits(usage: TokenUsage, price: Route["price"], extras: ChargedExtras): Cost {
  const prices = price === undefined ? undefined : compilePrice(price);
  const units = chargeUnits(usage, price, extras);
  const paid = new Set([...units.priced].flatMap((name) => tokensOfUnit[name]));
  const used = tokenClasses.filter((name) => usage[name] > 0 && !paid.has(name));
  const priced = used.filter((name) => prices?.rate(name) !== undefined);
  let picos = BigInt(extras.requests) * (prices?.request.exact ?? 0n);
  for (const name of priced) picos += BigInt(usage[name]) * (prices?.rate(name)?.exact ?? 0n);
  const thirdsPerNano = 3n * BigInt(picosPerNano);
  const costNanos = (units.thirds + 3n * picos + thirdsPerNano - 1n) / thirdsPerNano;
  if (price?.request !== undefined) return { costNanos, unpriced: nothingUnpriced };
  const isAnyPriced = units.priced.size > 0 || priced.length > 0;
  const open = [...units.open].filter((name) => (name === "images" ? !priced.includes("imageOutput") : !isAnyPriced));
  // Where a call is charged by the piece, the route leaves tokens without a price free on purpose.
  const isByPiece = units.priced.size > 0 && !units.open.has("images");
  const tokens = isByPiece ? [] : used.filter((name) => !priced.includes(name));
  return { costNanos, unpriced: [...tokens, ...open] };
}

const tokenClasses = usageClasses.filter((name) => name !== "searches");

function chargeUnits(usage: TokenUsage, price: Route["price"], extras: ChargedExtras): UnitCharge {
  const prices = price === undefined ? undefined : compilePrice(price);
  const priced = new Set<UnitClass>();
  const open = new Set<UnitClass>();
  let thirds = 0n;
  const add = (name: UnitClass, count: number, thirdsOfOne: bigint | undefined): void => {
    if (count === 0) return;
    thirds += BigInt(count) * (thirdsOfOne ?? 0n);
    (thirdsOfOne === undefined ? open : priced).add(name);
  };
  for (const image of extras.images ?? []) {
    add("images", image.count, inThirds(priceOfImage(price?.images, image).charged, picosPerMicro));
  }
  if (open.has("images")) priced.delete("images");
  add("audio", extras.audioMilliseconds ?? 0, prices?.audioMillisecondThirds);
  add("characters", extras.characters ?? 0, inThirds(prices?.character));
  add("searches", usage.searches, inThirds(prices?.rate("searches")?.exact));
  return { thirds, priced, open };
}

function inThirds(amount: bigint | undefined, picosOfOne = 1n): bigint | undefined {
  return amount === undefined ? undefined : 3n * amount * picosOfOne;
}
