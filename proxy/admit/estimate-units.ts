/**
 * Estimates the most that a call may need that is no chat, so that it is reserved before the call is sent
 * (docs/design/limits-and-money.md 4 and 12). Pure.
 */
import { type ImagesMade, priceOfImage } from "#proxy/settle/image-price";
import { type ChargedExtras, computeCost } from "#proxy/settle/price";
import { inputTokens, outputTokens, type TokenUsage, zeroUsage } from "#proxy/settle/usage";
import type { Route } from "#proxy/snapshot/types.gen";
import type { Amounts } from "./ledger.ts";

/** The most of each that a call may use; whole, not negative. */
export interface UnitsNeeded {
  readonly usage?: Partial<TokenUsage>;
  /** Characters of speech input. */
  readonly characters?: number;
  /** Of the audio that is heard or spoken. */
  readonly audioMilliseconds?: number;
  /** As the client asks for them; undefined and `auto` are reserved at the dearest price that could fit. */
  readonly images?: readonly ImagesMade[];
  /** Search units of a rerank; those of `usage` when absent. */
  readonly searches?: number;
}

/**
 * The most that a call may come to. Where the reply decides whether minutes or audio tokens, images or their tokens are
 * charged, the dearer of the two is reserved.
 */
export function estimateUnits(needed: UnitsNeeded, price: Route["price"]): Amounts {
  const { characters, audioMilliseconds, images = [] } = needed;
  const given: TokenUsage = { ...zeroUsage, ...needed.usage };
  const usage = needed.searches === undefined ? given : { ...given, searches: needed.searches };
  const byToken: ChargedExtras = {
    requests: 1,
    isPricedByUnit: true,
    ...(characters === undefined ? {} : { characters }),
  };
  const costOf = (used: TokenUsage): bigint => {
    const tokens = computeCost(used, price, byToken).costNanos;
    if (audioMilliseconds === undefined) return tokens;
    const minutes = computeCost(used, price, { ...byToken, audioMilliseconds }).costNanos;
    return minutes > tokens ? minutes : tokens;
  };
  return {
    requests: 1n,
    inputTokens: BigInt(inputTokens(usage)),
    outputTokens: BigInt(outputTokens(usage)),
    costNanos: costWithImages(images, price, costOf(usage), costOf({ ...usage, imageOutput: 0 })),
  };
}

/**
 * @param withTokens cost of all but images, the tokens of images among it
 * @param withoutTokens the same without those tokens, as where every image is charged by the piece
 */
function costWithImages(
  images: readonly ImagesMade[],
  price: Route["price"],
  withTokens: bigint,
  withoutTokens: bigint,
): bigint {
  let allNanos = 0n;
  let leastOpenNanos: bigint | undefined;
  for (const image of images) {
    if (image.count === 0) continue;
    const { dearest, isCertain } = priceOfImage(price?.images, image);
    const nanos = BigInt(image.count) * dearest * nanosPerMicro;
    allNanos += nanos;
    if (!isCertain && (leastOpenNanos === undefined || nanos < leastOpenNanos)) leastOpenNanos = nanos;
  }
  if (images.every(({ count }) => count === 0)) return withTokens;
  const byPiece = withoutTokens + allNanos;
  if (leastOpenNanos === undefined) return byPiece;
  // One size without a price brings the tokens of all images back.
  const byToken = withTokens + allNanos - leastOpenNanos;
  return byToken > byPiece ? byToken : byPiece;
}

const nanosPerMicro = 1_000n;
