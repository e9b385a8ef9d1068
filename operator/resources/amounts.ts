/**
 * Parses the strings that represent numbers in a spec: quantities, durations and timestamps
 * (docs/design/configuration.md 1.3).
 *
 * Every amount becomes an integer of a named unit and never a float. A string that is too precise or too large throws
 * `SpecError`, whose message is fit for a condition.
 */

/** A value of a spec that cannot be enforced as written; the message names the field and is fit for a condition. */
export class SpecError extends Error {
  readonly code = "invalid_spec";
}

/** An amount has at most 15 digits and 9,000,000,000 credits, so that its nano-credits stay below 2^63. */
const digitsMax = 15;
const wholeMax = 9_000_000_000n;

const factors: { readonly [suffix: string]: bigint } = { "": 1n, k: 1_000n, M: 1_000_000n, G: 1_000_000_000n };

/**
 * Parses a Quantity (`^[0-9]+(\.[0-9]{1,9})?[kMG]?$`) to an integer of 10^-`decimals`.
 *
 * @throws SpecError when it is no quantity, too large or finer than the unit.
 */
export function parseQuantity(text: string, decimals: number, field: string): bigint {
  const match = /^([0-9]+)(?:\.([0-9]{1,9}))?([kMG]?)$/.exec(text);
  if (!match) throw new SpecError(`${field}: "${text}" is not a quantity such as "250", "0.15" or "200k"`);
  const [, whole = "", fraction = "", suffix = ""] = match;
  if (whole.length + fraction.length > digitsMax) {
    throw new SpecError(`${field}: "${text}" has more than ${digitsMax} digits`);
  }
  const scale = 10n ** BigInt(fraction.length);
  const numerator = BigInt(whole + fraction) * (factors[suffix] ?? 1n) * 10n ** BigInt(decimals);
  if (numerator % scale !== 0n) {
    throw new SpecError(`${field}: "${text}" has more decimals than the unit allows (${decimals})`);
  }
  const value = numerator / scale;
  if (decimals > 0 && value > wholeMax * 10n ** BigInt(decimals)) {
    throw new SpecError(`${field}: "${text}" is more than ${wholeMax} credits`);
  }
  if (value >= 2n ** 63n) throw new SpecError(`${field}: "${text}" is too large`);
  return value;
}

/** Credits to nano-credits (10^-9), as the ledger counts. */
export function parseNanoCredits(text: string, field: string): string {
  return parseQuantity(text, 9, field).toString();
}

/** Prices to micro-credits (10^-6). */
export function parseMicroCredits(text: string, field: string): string {
  return parseQuantity(text, 6, field).toString();
}

const unitMs: { readonly [unit: string]: number } = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/**
 * Parses a Duration (`^([0-9]{1,5}(h|m|s|ms)){1,4}$`) to milliseconds.
 *
 * @throws SpecError when it is not a duration or exceeds the wire's bound (49 days).
 */
export function parseDurationMs(text: string, field: string): number {
  if (!/^([0-9]{1,5}(h|m|s|ms)){1,4}$/.test(text)) {
    throw new SpecError(`${field}: "${text}" is not a duration such as "30s", "2m" or "500ms"`);
  }
  let total = 0;
  for (const [, count = "0", unit = "ms"] of text.matchAll(/([0-9]{1,5})(ms|h|m|s)/g)) {
    total += Number(count) * (unitMs[unit] ?? 1);
  }
  if (total > 4_294_967_295) throw new SpecError(`${field}: "${text}" is longer than 49 days`);
  return total;
}

/** @throws SpecError when the text is no RFC 3339 date-time within the range of the wire. */
export function parseTimestampMs(text: string, field: string): number {
  const isShaped = /^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})$/;
  const value = isShaped.test(text) ? Date.parse(text.toUpperCase()) : Number.NaN;
  if (Number.isNaN(value) || value < 0) {
    throw new SpecError(`${field}: "${text}" is not a date-time such as "2026-12-31T00:00:00Z"`);
  }
  return value;
}
