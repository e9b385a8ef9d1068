/**
 * Reads token counts from usage objects that may be malformed.
 *
 * The rule for odd numbers (pitfalls 116 to 122): absent, null, negative, fractional below one or not a number count 0;
 * digits in a string count (protobuf writes 64-bit integers so), with a fraction too; fractions are cut; nothing
 * exceeds `tokensMax`. A part can never exceed its whole, so no class becomes negative by subtraction.
 */

/** Far above any context window, far below where sums of integers lose exactness. */
const tokensMax = 1_000_000_000_000;
const digits = /^\d{1,15}(?:\.\d{1,15})?$/;

/** A count; 0 for everything that is none. */
export function count(value: unknown): number {
  const number = typeof value === "string" && digits.test(value) ? Number(value) : value;
  if (typeof number !== "number" || !(number > 0)) return 0;
  return Math.min(Math.floor(number), tokensMax);
}

/** The first of several places that tells something; 0 when none does. */
export function firstCount(...places: readonly unknown[]): number {
  for (const place of places) {
    const tokens = count(place);
    if (tokens > 0) return tokens;
  }
  return 0;
}

/** Takes disjoint parts out of a whole, in order, each bounded by what is left. */
export class Remainder {
  #left: number;

  constructor(whole: number) {
    this.#left = whole;
  }

  subtract(part: unknown): number {
    const counted = Math.min(count(part), this.#left);
    this.#left -= counted;
    return counted;
  }

  get left(): number {
    return this.#left;
  }
}
