/**
 * Keeps the two sums behind every window and balance: posted amounts, and amounts that open reservations hold.
 *
 * They are exact at any size, and quick at the usual one: sums are doubles while they stay below 2^53 (nine million
 * credits); larger sums are carried into bigints. An amount added is a whole number from 0 to 2^53 - 1.
 */

/** A ceiling to compare sums with, prepared once. */
export interface Ceiling {
  readonly exact: bigint;
  /** The same as a number, or Infinity where it is no exact double: then every narrow sum is below it. */
  readonly narrow: number;
}

export function ceilingOf(exact: bigint): Ceiling {
  return { exact, narrow: exact <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(exact) : Number.POSITIVE_INFINITY };
}

export class Tally {
  #posted = 0;
  #pending = 0;
  #postedCarry = 0n;
  #pendingCarry = 0n;
  #isWide = false;

  get posted(): bigint {
    return this.#postedCarry + BigInt(this.#posted);
  }

  get pending(): bigint {
    return this.#pendingCarry + BigInt(this.#pending);
  }

  /** `posted` as an exact double; undefined where it is none. */
  get narrowPosted(): number | undefined {
    return this.#postedCarry === 0n ? this.#posted : undefined;
  }

  get narrowPending(): number {
    return this.#pendingCarry === 0n ? this.#pending : Number.NaN;
  }

  get hasPending(): boolean {
    return this.#pending > 0 || this.#pendingCarry > 0n;
  }

  /** Whether posted + pending + amount stays within the ceiling. */
  fits(amount: number, ceiling: Ceiling): boolean {
    const total = this.#posted + this.#pending + amount;
    if (!this.#isWide && total <= Number.MAX_SAFE_INTEGER) return total <= ceiling.narrow;
    return this.posted + this.pending + BigInt(amount) <= ceiling.exact;
  }

  /** Whether `amount` would fit if nothing were reserved: only others' reservations are in the way. */
  fitsWithoutPending(amount: number, ceiling: Ceiling): boolean {
    return this.posted + BigInt(amount) <= ceiling.exact;
  }

  /** What is left below the ceiling; never negative. */
  remaining(ceiling: Ceiling): bigint {
    const sum = this.#posted + this.#pending;
    if (!this.#isWide && sum <= Number.MAX_SAFE_INTEGER && ceiling.narrow !== Number.POSITIVE_INFINITY) {
      return sum >= ceiling.narrow ? 0n : BigInt(ceiling.narrow - sum);
    }
    const left = ceiling.exact - this.posted - this.pending;
    return left > 0n ? left : 0n;
  }

  hold(amount: number): void {
    const sum = this.#pending + amount;
    if (sum <= Number.MAX_SAFE_INTEGER) this.#pending = sum;
    else this.#setPending(this.pending + BigInt(amount));
  }

  release(amount: number): void {
    if (this.#pending >= amount) this.#pending -= amount;
    else this.#setPending(this.pending - BigInt(amount));
  }

  post(amount: number): void {
    const sum = this.#posted + amount;
    if (sum <= Number.MAX_SAFE_INTEGER) this.#posted = sum;
    else this.setPosted(this.posted + BigInt(amount));
  }

  /** Restores a sum read from disk. */
  setPosted(posted: bigint): void {
    const narrow = posted <= BigInt(Number.MAX_SAFE_INTEGER);
    this.#posted = narrow ? Number(posted) : 0;
    this.#postedCarry = narrow ? 0n : posted;
    this.#isWide = !narrow || this.#pendingCarry > 0n;
  }

  /** Adds both sums of another one. */
  add(other: Tally): void {
    this.setPosted(this.posted + other.posted);
    this.#setPending(this.pending + other.pending);
  }

  #setPending(pending: bigint): void {
    const narrow = pending <= BigInt(Number.MAX_SAFE_INTEGER);
    this.#pending = narrow ? Number(pending) : 0;
    this.#pendingCarry = narrow ? 0n : pending;
    this.#isWide = !narrow || this.#postedCarry > 0n;
  }
}
