/**
 * Finds the price of an image by its size and quality (PURE; docs/design/limits-and-money.md 10).
 *
 * The first entry of the route's list that fits counts. An entry without a size fits every size, one with a size fits
 * that size alone; the same for quality. Clients leave both to the model, and some replies do not tell either, so a
 * size may be unknown: it fits only entries without one, and where there is none, the image costs as much as the dearest
 * entry that could fit it.
 */
import type { Route } from "#proxy/snapshot/types.gen";

type Price = NonNullable<Route["price"]>;
type ImageEntry = NonNullable<Price["images"]>[number];

/** Size and quality as the provider spells them; undefined and `auto`: unknown. */
export interface ImageKind {
  readonly size: string | undefined;
  readonly quality: string | undefined;
}

/** Images of one kind. */
export interface ImagesMade extends ImageKind {
  /** Whole, not negative. */
  readonly count: number;
}

/** Amounts in micro-credits for one image. */
export interface ImagePrice {
  /** Charged for an image of this kind; undefined: no entry can fit it. */
  readonly charged: bigint | undefined;
  /** The most that it can come to, whatever the reply tells of size and quality. */
  readonly dearest: bigint;
  /** Some entry fits, whatever the reply tells. */
  readonly isCertain: boolean;
}

/** @param entries `images` of the route's price */
export function priceOfImage(entries: readonly ImageEntry[] | undefined, image: ImageKind): ImagePrice {
  let possible: bigint | undefined;
  for (const entry of entries ?? []) {
    const fit = fitOf(entry, image);
    if (fit === "none") continue;
    const amount = BigInt(entry.price);
    possible = possible === undefined || amount > possible ? amount : possible;
    if (fit === "certain") return { charged: amount, dearest: possible, isCertain: true };
  }
  return { charged: possible, dearest: possible ?? 0n, isCertain: false };
}

/**
 * The kind by which an image is charged: as the reply tells it. Where the route has no price for that, it is charged as it
 * was asked for, because that is what was reserved: an image that was admitted is never free.
 *
 * @param told by the reply; what it leaves out is taken from the request
 */
export function chargedKind(told: ImageKind, asked: ImageKind, price: Route["price"]): ImageKind {
  const made = { size: told.size ?? asked.size, quality: told.quality ?? asked.quality };
  return priceOfImage(price?.images, made).charged === undefined ? asked : made;
}

/** Whether a call for these images can be charged: each by an entry, or all by token or by request. */
export function canPriceImages(images: readonly ImageKind[], price: Route["price"]): boolean {
  if (price === undefined) return false;
  if ((price.request ?? price.imageOutput ?? price.output) !== undefined) return true;
  return images.every((image) => priceOfImage(price.images, image).charged !== undefined);
}

export function countImages(images: readonly ImagesMade[] = []): number {
  return images.reduce((sum, { count }) => sum + count, 0);
}

type Fit = "certain" | "possible" | "none";

function fitOf(entry: ImageEntry, image: ImageKind): Fit {
  const size = fitOfPart(entry.size, image.size);
  const quality = fitOfPart(entry.quality, image.quality);
  if (size === "none" || quality === "none") return "none";
  return size === "certain" && quality === "certain" ? "certain" : "possible";
}

function fitOfPart(priced: string | undefined, made: string | undefined): Fit {
  if (priced === undefined) return "certain";
  if (made === undefined || made === "auto") return "possible";
  return priced === made ? "certain" : "none";
}
