import assert from "node:assert/strict";
import fc from "fast-check";
import { bucketShape, TokenBucket } from "#proxy/admit/token-bucket";

const minute = 60_000;

describe("TokenBucket", () => {
  it("begins full, gives what it holds and refuses more", () => {
    const bucket = new TokenBucket(bucketShape(10n, 10n, minute), 0);
    assert.equal(bucket.holds(10), true);
    assert.equal(bucket.holds(11), false);
    bucket.consume(10);
    assert.equal(bucket.holds(1), false);
    assert.equal(bucket.holds(0), true);
    assert.equal(bucket.remaining(), 0n);
  });

  it("lets the limit flow in evenly over the period, and no more than the burst", () => {
    const bucket = new TokenBucket(bucketShape(10n, 4n, minute), 0);
    bucket.consume(4);
    bucket.refill(5_999);
    assert.equal(bucket.level, 0);
    bucket.refill(6_000);
    assert.equal(bucket.level, 1);
    bucket.refill(10 * minute);
    assert.equal(bucket.level, 4);
  });

  it("says exactly when an amount is there, and never for more than the burst or without a flow", () => {
    const bucket = new TokenBucket(bucketShape(7n, 20n, minute), 1_000);
    bucket.consume(20);
    const readyMs = bucket.readyAtMs(3) ?? 0;
    assert.equal(readyMs, 1_000 + Math.ceil((3 * minute) / 7));
    bucket.refill(readyMs - 1);
    assert.equal(bucket.holds(3), false);
    bucket.refill(readyMs);
    assert.equal(bucket.holds(3), true);
    assert.equal(bucket.readyAtMs(21), undefined);
    const dry = new TokenBucket(bucketShape(0n, 1n, minute), 0);
    dry.consume(1);
    assert.equal(dry.readyAtMs(1), undefined);
  });

  it("goes into debt for what was consumed above its reservation, and pays it back first", () => {
    const bucket = new TokenBucket(bucketShape(60n, 60n, minute), 0);
    bucket.consume(60);
    bucket.correct(60, 90);
    assert.equal(bucket.level, -30);
    assert.equal(bucket.remaining(), 0n);
    assert.equal(bucket.readyAtMs(1), 31_000);
    bucket.refill(31_000);
    assert.equal(bucket.holds(1), true);
    assert.equal(bucket.holds(2), false);
  });

  it("gives back what was reserved and not used, and never overflows", () => {
    const bucket = new TokenBucket(bucketShape(60n, 60n, minute), 0);
    bucket.consume(50);
    bucket.refill(minute);
    bucket.correct(50, 10);
    assert.equal(bucket.level, 60);
  });

  it("adds nothing when the clock goes back", () => {
    const bucket = new TokenBucket(bucketShape(60n, 60n, minute), minute);
    bucket.consume(60);
    bucket.refill(0);
    assert.equal(bucket.level, 0);
    bucket.refill(minute + 1_000);
    assert.equal(bucket.level, 1);
  });

  it("keeps what it holds when its limit is edited, but for what no longer fits", () => {
    const bucket = new TokenBucket(bucketShape(60n, 60n, minute), 0);
    bucket.consume(10);
    bucket.reshape(bucketShape(120n, 120n, minute), 0);
    assert.equal(bucket.level, 50);
    bucket.reshape(bucketShape(20n, 20n, minute), 0);
    assert.equal(bucket.level, 20);
  });

  it("counts in coarser units only where numbers are huge, and then against the caller", () => {
    const bucket = new TokenBucket(bucketShape(9n * 10n ** 18n, 9n * 10n ** 18n, minute), 0);
    const { scale } = bucket.shape;
    assert.ok(scale > 1 && bucket.shape.burst < 2 ** 50);
    bucket.consume(1);
    assert.equal(bucket.remaining(), 9n * 10n ** 18n - BigInt(scale));
  });

  const amount = fc.bigInt({ min: 1n, max: 10n ** 15n });
  const periods = fc.constantFrom(1_000, 60_000, 3_600_000);
  it("holds exactly what bigints say, in however many steps the time passes", () => {
    fc.assert(
      fc.property(
        amount,
        amount,
        periods,
        fc.array(fc.nat(100_000), { maxLength: 30 }),
        (limit, burst, periodMs, stepsMs) => {
          fc.pre(limit < 2n ** 50n && burst < 2n ** 50n);
          const bucket = new TokenBucket(bucketShape(limit, burst, periodMs), 0);
          bucket.consume(Number(burst));
          let elapsedMs = 0;
          for (const stepMs of stepsMs) {
            elapsedMs += stepMs;
            bucket.refill(elapsedMs);
          }
          const flowed = (BigInt(elapsedMs) * limit) / BigInt(periodMs);
          assert.equal(BigInt(bucket.level), flowed < burst ? flowed : burst);
        },
      ),
    );
  });

  it("never admits more than burst + flow in any stretch of time", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 50 }),
        fc.integer({ min: 1, max: 50 }),
        fc.array(fc.record({ waitMs: fc.nat(500), amount: fc.nat(20) }), { maxLength: 60 }),
        (limit, burst, calls) => {
          const bucket = new TokenBucket(bucketShape(BigInt(limit), BigInt(burst), 1_000), 0);
          let nowMs = 0;
          let taken = 0;
          for (const call of calls) {
            nowMs += call.waitMs;
            bucket.refill(nowMs);
            if (bucket.holds(call.amount)) {
              bucket.consume(call.amount);
              taken += call.amount;
            }
            assert.ok(taken <= burst + (nowMs * limit) / 1_000);
          }
        },
      ),
    );
  });
});
