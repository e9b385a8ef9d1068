import assert from "node:assert/strict";
import fc from "fast-check";
import { computeCost, type Price } from "#proxy/settle/price";
import { type TokenUsage, zeroUsage } from "#proxy/settle/usage";

const one = { requests: 1 };
const none = { requests: 0 };
const usageOf = (usage: Partial<TokenUsage>): TokenUsage => ({ ...zeroUsage, ...usage });

describe("computeCost()", () => {
  const full: Price = { input: "1000000", output: "4000000" };
  for (const row of [
    { name: "prices input by the million", usage: { input: 1_000_000 }, price: full, want: 1_000_000_000n },
    { name: "prices output by the million", usage: { output: 500_000 }, price: full, want: 2_000_000_000n },
    {
      name: "rounds five tokens up to whole nano-credits, once",
      usage: { input: 5 },
      price: { input: "20000" },
      want: 100n,
    },
    {
      name: "rounds the sum and not the parts",
      usage: { input: 1, output: 1 },
      price: { input: "400", output: "400" },
      want: 1n,
    },
    { name: "rounds up what is left over", usage: { input: 1 }, price: { input: "1" }, want: 1n },
    { name: "charges reasoning as output", usage: { reasoning: 10 }, price: full, want: 40_000n },
    {
      name: "charges reasoning by its own price",
      usage: { reasoning: 10 },
      price: { ...full, reasoning: "9000000" },
      want: 90_000n,
    },
    { name: "charges cached input as input", usage: { cacheRead: 10 }, price: full, want: 10_000n },
    {
      name: "charges cached input by its own price",
      usage: { cacheRead: 10 },
      price: { ...full, cachedInput: "100000" },
      want: 1_000n,
    },
    { name: "charges a cache write as input", usage: { cacheWrite: 10 }, price: full, want: 10_000n },
    {
      name: "charges a one-hour cache write as twice the input",
      usage: { cacheWrite1h: 10 },
      price: full,
      want: 20_000n,
    },
    {
      name: "charges a one-hour cache write by its own price",
      usage: { cacheWrite1h: 10 },
      price: { ...full, cacheWrite1h: "3000000", cacheWrite: "1" },
      want: 30_000n,
    },
    {
      name: "charges audio and image input as input",
      usage: { audioInput: 5, imageInput: 5 },
      price: full,
      want: 10_000n,
    },
    {
      name: "charges audio and image output as output",
      usage: { audioOutput: 5, imageOutput: 5 },
      price: full,
      want: 40_000n,
    },
    { name: "charges searches by the piece", usage: { searches: 3 }, price: { search: "10000" }, want: 30_000_000n },
    { name: "charges each request", usage: {}, price: { request: "5" }, want: 5_000n },
    { name: "does not charge what is free", usage: { input: 9 }, price: { input: "0" }, want: 0n },
  ]) {
    it(row.name, () => {
      assert.deepEqual(computeCost(usageOf(row.usage), row.price, one), { costNanos: row.want, unpriced: [] });
    });
  }

  it("names used classes that have neither price nor fallback", () => {
    const usage = usageOf({ input: 1, output: 2, searches: 1 });
    assert.deepEqual(computeCost(usage, { input: "1000" }, one), { costNanos: 1n, unpriced: ["output", "searches"] });
    assert.deepEqual(computeCost(usage, undefined, one), { costNanos: 0n, unpriced: ["input", "output", "searches"] });
    assert.deepEqual(computeCost(zeroUsage, undefined, one).unpriced, []);
  });

  const amount = fc.bigInt({ min: 0n, max: 9_000_000_000n * 1_000_000n }).map(String);
  const price = fc.record({ input: amount, output: amount, cachedInput: amount, request: amount });
  const count = fc.oneof(fc.integer({ min: 0, max: 300_000 }), fc.maxSafeInteger().map(Math.abs));
  const usage = fc.record({ input: count, output: count, cacheRead: count }).map(usageOf);

  it("is exact for any numbers", () => {
    fc.assert(
      fc.property(usage, price, (used, rates) => {
        const picos =
          BigInt(used.input) * BigInt(rates.input) +
          BigInt(used.output) * BigInt(rates.output) +
          BigInt(used.cacheRead) * BigInt(rates.cachedInput) +
          BigInt(rates.request) * 1_000_000n;
        assert.equal(computeCost(used, rates, one).costNanos, (picos + 999n) / 1_000n);
      }),
    );
  });

  it("is additive before the one rounding: parts cost at most one nano-credit each more than the whole", () => {
    const small = fc.integer({ min: 0, max: 300_000 });
    const part = fc.record({ input: small, output: small }).map(usageOf);
    fc.assert(
      fc.property(part, part, price, (a, b, rates) => {
        const whole = computeCost(
          usageOf({ input: a.input + b.input, output: a.output + b.output }),
          rates,
          none,
        ).costNanos;
        const parts = computeCost(a, rates, none).costNanos + computeCost(b, rates, none).costNanos;
        assert.ok(parts >= whole && parts - whole <= 1n);
      }),
    );
  });

  it("is monotone: more tokens never cost less", () => {
    fc.assert(
      fc.property(usage, fc.integer({ min: 0, max: 1_000 }), price, (used, more, rates) => {
        const larger = { ...used, output: Math.min(used.output + more, Number.MAX_SAFE_INTEGER) };
        assert.ok(computeCost(larger, rates, one).costNanos >= computeCost(used, rates, one).costNanos);
      }),
    );
  });
});
