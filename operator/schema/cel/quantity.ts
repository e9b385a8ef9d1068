/**
 * Parses Kubernetes quantities as exact integers, in the forms that the custom resources use: decimals with k, M or G.
 *
 * They are exact because amounts are money: 9000000000.000001 must be more than 9G.
 */
export interface Quantity {
  /** The amount in 10^-9, the finest step a quantity has. */
  readonly nanos: bigint;
}

const suffixExponents: { readonly [suffix: string]: number } = { "": 9, k: 12, M: 15, G: 18 };

/**
 * Reads a decimal such as `250`, `-0.5` or `1.5k`.
 *
 * @throws RangeError for text that is no such decimal
 */
export function parseQuantity(text: string): Quantity {
  const match = /^(-?)([0-9]{1,18})(?:\.([0-9]{1,9}))?([kMG]?)$/.exec(text);
  if (match === null) throw new RangeError("not a quantity");
  const [, sign = "", whole = "", fraction = "", suffix = ""] = match;
  const exponent = (suffixExponents[suffix] ?? 9) - fraction.length;
  const nanos = BigInt(whole + fraction) * 10n ** BigInt(exponent);
  return { nanos: sign === "-" ? -nanos : nanos };
}

/** -1, 0 or 1 as `left` is less than, equal to or greater than `right`. */
export function compareQuantities(left: Quantity, right: Quantity): -1 | 0 | 1 {
  if (left.nanos === right.nanos) return 0;
  return left.nanos < right.nanos ? -1 : 1;
}
