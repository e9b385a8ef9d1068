/**
 * Implements a token bucket in whole numbers: `limit` tokens flow in each period, `burst` is the most it holds.
 *
 * It is exact: the inflow is whole tokens plus a remainder in `limit x ms`, both integers, so that no number of small
 * steps differs from one large step. Tokens are consumed when a request is reserved and given back, or consumed
 * further into debt, when it is settled. Pure: the time is an argument; a clock that goes back adds nothing.
 *
 * All numbers stay exact doubles (below 2^53). A burst or limit of 2^50 or more (over a million credits) is counted in
 * coarser units, rounded against the caller by less than one part in 10^12.
 */

/** What a bucket is; made once a limit by `bucketShape`. */
export interface BucketShape {
  readonly periodMs: number;
  /** Units that flow in each period. */
  readonly refill: number;
  readonly burst: number;
  /** Amount that one unit stands for; 1 but for huge limits. */
  readonly scale: number;
}

/** @param periodMs length of the refill period; `limit` and `burst` are amounts of the limit's unit. */
export function bucketShape(limit: bigint, burst: bigint, periodMs: number): BucketShape {
  const largest = limit > burst ? limit : burst;
  let scale = 1n;
  while (largest / scale >= 2n ** 50n) scale *= 2n;
  return { periodMs, refill: Number(limit / scale), burst: Number(burst / scale), scale: Number(scale) };
}

export class TokenBucket {
  shape: BucketShape;
  /** Whole units at `atMs`; negative: debt. */
  level: number;
  atMs: number;
  /** What has flowed in beyond `level`, in units x milliseconds: 0 to periodMs - 1. */
  #remainder = 0;

  /** A full bucket. */
  constructor(shape: BucketShape, nowMs: number) {
    this.shape = shape;
    this.level = shape.burst;
    this.atMs = nowMs;
  }

  /** The limit was edited: what the bucket holds stays, but for what no longer fits. */
  reshape(shape: BucketShape, nowMs: number): void {
    this.refill(nowMs);
    if (shape.scale !== this.shape.scale) this.level = Math.floor((this.level / shape.scale) * this.shape.scale);
    if (shape.periodMs !== this.shape.periodMs) this.#remainder = 0;
    this.shape = shape;
    this.#cap();
  }

  /** Lets flow in what the time since the last call is worth. */
  refill(nowMs: number): void {
    const elapsedMs = nowMs - this.atMs;
    if (elapsedMs <= 0) return;
    this.atMs = nowMs;
    const { refill, burst, periodMs } = this.shape;
    if (this.level >= burst) return;
    const flowed = elapsedMs * refill + this.#remainder;
    if (flowed <= Number.MAX_SAFE_INTEGER) {
      this.#remainder = flowed % periodMs;
      this.level += (flowed - this.#remainder) / periodMs;
    } else {
      const exact = BigInt(elapsedMs) * BigInt(refill) + BigInt(this.#remainder);
      const whole = exact / BigInt(periodMs);
      this.#remainder = Number(exact % BigInt(periodMs));
      const missing = burst - this.level;
      this.level = whole >= BigInt(missing) ? burst : this.level + Number(whole);
    }
    this.#cap();
  }

  /** Whether `amount` could be taken now. Call `refill` first. */
  holds(amount: number): boolean {
    return this.#unitsUp(amount) <= this.level;
  }

  consume(amount: number): void {
    this.level -= this.#unitsUp(amount);
  }

  /** Settles what `consume(reserved)` consumed at `actual`; more than reserved leads into debt. Call `refill` first. */
  correct(reserved: number, actual: number): void {
    // Debts beyond 2^52 would no longer be exact; at that size they never end anyway.
    this.level = Math.max(this.level + this.#unitsUp(reserved) - this.#unitsUp(actual), -(2 ** 52));
    this.#cap();
  }

  /** When `amount` can be taken if nobody else takes any; undefined: never. Call `refill` first. */
  readyAtMs(amount: number): number | undefined {
    const units = this.#unitsUp(amount);
    if (units <= this.level) return this.atMs;
    const { refill, burst, periodMs } = this.shape;
    if (units > burst || refill === 0) return undefined;
    const narrow = (units - this.level) * periodMs;
    if (narrow <= Number.MAX_SAFE_INTEGER) {
      const missing = narrow - this.#remainder;
      const rest = missing % refill;
      return this.atMs + (missing - rest) / refill + (rest > 0 ? 1 : 0);
    }
    const missing = BigInt(units - this.level) * BigInt(periodMs) - BigInt(this.#remainder);
    return this.atMs + Number((missing + BigInt(refill) - 1n) / BigInt(refill));
  }

  /** When the bucket is full again; undefined: never. Call `refill` first. */
  fullAtMs(): number | undefined {
    return this.readyAtMs(this.shape.burst * this.shape.scale);
  }

  /** Amount that may still be taken; never negative. Call `refill` first. */
  remaining(): bigint {
    if (this.level <= 0) return 0n;
    return this.shape.scale === 1 ? BigInt(this.level) : BigInt(this.level) * BigInt(this.shape.scale);
  }

  #unitsUp(amount: number): number {
    return this.shape.scale === 1 ? amount : Math.ceil(amount / this.shape.scale);
  }

  #cap(): void {
    if (this.level < this.shape.burst) return;
    this.level = this.shape.burst;
    this.#remainder = 0;
  }
}
