import assert from "node:assert/strict";
import fc from "fast-check";
import { type ChargedExtras, computeCost, type Price } from "#proxy/settle/price";
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

describe("computeCost() of what is no text", () => {
  const perImage: Price = { images: [{ size: "1024x1024", quality: "hd", price: "80000" }, { price: "20000" }] };
  const square: Price = { images: [{ size: "1024x1024", price: "40000" }] };
  const tokens: Price = { input: "1000000", output: "4000000" };
  const image = (size: string | undefined, count: number, quality?: string) => ({ size, quality, count });

  interface Row {
    readonly name: string;
    readonly usage?: Partial<TokenUsage>;
    readonly price: Price;
    readonly extras: Partial<ChargedExtras>;
    readonly want: bigint;
    readonly unpriced?: readonly string[];
  }
  const rows: readonly Row[] = [
    {
      name: "charges each image by the first entry that fits",
      price: perImage,
      extras: { images: [image("1024x1024", 2, "hd"), image("1024x1024", 3, "low")] },
      want: 220_000_000n,
    },
    {
      name: "adds the request and the text of the prompt to images",
      usage: { input: 10 },
      price: { ...square, input: "1000000", request: "5" },
      extras: { images: [image("1024x1024", 1)] },
      want: 40_000_000n + 10_000n + 5_000n,
    },
    {
      name: "charges the tokens of an image to routes without a price per image",
      usage: { input: 10, imageInput: 20, imageOutput: 1_000 },
      price: { ...tokens, imageOutput: "40000000" },
      extras: { images: [image("1024x1024", 1)] },
      want: 30_000n + 40_000_000n,
    },
    {
      name: "does not charge the tokens of an image that is charged by the piece",
      usage: { imageOutput: 1_000 },
      price: { ...square, ...tokens },
      extras: { images: [image("1024x1024", 1)] },
      want: 40_000_000n,
    },
    {
      name: "charges images that an edit reads by token, also where those made have a price",
      usage: { imageInput: 20 },
      price: { ...square, imageInput: "2000000" },
      extras: { images: [image("1024x1024", 1)] },
      want: 40_040_000n,
    },
    {
      name: "charges the text and thoughts of a drawing that is text as output",
      usage: { output: 5, reasoning: 5, imageOutput: 9 },
      price: { ...square, output: "4000000" },
      extras: { images: [image("1024x1024", 1)] },
      want: 40_040_000n,
    },
    {
      name: "charges the tokens of images of which one has no entry, and the entries of the others",
      usage: { imageOutput: 100 },
      price: { ...square, output: "1000000" },
      extras: { images: [image("1024x1024", 1), image("512x512", 1)] },
      want: 40_100_000n,
    },
    {
      name: "leaves tokens free on purpose where images have a price",
      usage: { input: 5, imageInput: 5, imageOutput: 5 },
      price: square,
      extras: { images: [image("1024x1024", 1)] },
      want: 40_000_000n,
    },
    {
      name: "calls images unpriced that have neither an entry nor tokens with a price",
      usage: { input: 5, imageOutput: 5 },
      price: { ...square, input: "1000000" },
      extras: { images: [image("512x512", 1)] },
      want: 5_000n,
      unpriced: ["imageOutput", "images"],
    },
    {
      name: "calls images unpriced whose tokens nobody counted",
      price: { ...square, output: "1000000" },
      extras: { images: [image("512x512", 1)] },
      want: 0n,
      unpriced: ["images"],
    },
    {
      name: "calls nothing unpriced where the request has a price",
      usage: { input: 5 },
      price: { request: "5" },
      extras: { images: [image("512x512", 1)], audioMilliseconds: 1, characters: 1 },
      want: 5_000n,
    },
    { name: "takes no image for one", price: square, extras: { images: [image("512x512", 0)] }, want: 0n },
    {
      name: "charges a minute of audio",
      price: { audioMinute: "6000" },
      extras: { audioMilliseconds: 60_000 },
      want: 6_000_000n,
    },
    {
      name: "charges a part of a minute to the millisecond, rounded up once",
      price: { audioMinute: "1" },
      extras: { audioMilliseconds: 61 },
      // 61 ms / 60,000 ms of 1,000 nano-credits are 1.0167.
      want: 2n,
    },
    {
      name: "sums thirds of a unit before it rounds",
      price: { audioMinute: "1", characters: "1" },
      // 57 ms are 950 units of 10^-12, and 50 characters 50 of them.
      extras: { audioMilliseconds: 57, characters: 50 },
      want: 1n,
    },
    {
      name: "does not charge the audio tokens of minutes that have a price, but the text of them",
      usage: { audioInput: 500, audioOutput: 500, output: 10 },
      price: { ...tokens, audioMinute: "6000" },
      extras: { audioMilliseconds: 60_000 },
      want: 6_040_000n,
    },
    {
      name: "charges audio tokens where no length is known",
      usage: { audioInput: 500 },
      price: { ...tokens, audioMinute: "6000" },
      extras: { audioMilliseconds: 0 },
      want: 500_000n,
    },
    {
      name: "leaves the transcript free on purpose where minutes have a price",
      usage: { audioInput: 500, output: 10 },
      price: { audioMinute: "6000" },
      extras: { audioMilliseconds: 60_000 },
      want: 6_000_000n,
    },
    {
      name: "does not call audio unpriced whose tokens have a price",
      usage: { audioInput: 500 },
      price: tokens,
      extras: { audioMilliseconds: 60_000 },
      want: 500_000n,
    },
    {
      name: "calls audio unpriced where nothing has a price",
      price: { characters: "1" },
      extras: { audioMilliseconds: 60_000 },
      want: 0n,
      unpriced: ["audio"],
    },
    {
      name: "charges a million characters",
      price: { characters: "15000000" },
      extras: { characters: 1_000_000 },
      want: 15_000_000_000n,
    },
    {
      name: "does not charge the text tokens of characters that have a price, but the audio of them",
      usage: { input: 5, cacheRead: 5, audioOutput: 10 },
      price: { ...tokens, characters: "1000000" },
      extras: { characters: 7 },
      want: 7_000n + 40_000n,
    },
    {
      name: "charges characters and minutes where both have a price",
      price: { characters: "1000000", audioMinute: "6000" },
      extras: { characters: 7, audioMilliseconds: 60_000 },
      want: 6_007_000n,
    },
    {
      name: "does not call the length of speech unpriced that is charged by character",
      usage: { audioOutput: 10 },
      price: { characters: "1000000" },
      extras: { characters: 7, audioMilliseconds: 60_000 },
      want: 7_000n,
    },
    {
      name: "calls characters unpriced where nothing has a price",
      price: { input: "1" },
      extras: { characters: 7 },
      want: 0n,
      unpriced: ["characters"],
    },
    {
      name: "charges a rerank by search and leaves its tokens free on purpose",
      usage: { input: 50, searches: 2 },
      price: { search: "1000" },
      extras: { isPricedByUnit: true },
      want: 2_000_000n,
    },
    {
      name: "charges a rerank by token and leaves its searches free on purpose",
      usage: { input: 50, searches: 2 },
      price: { input: "1000000" },
      extras: { isPricedByUnit: true },
      want: 50_000n,
    },
    {
      name: "charges an embedding by request alone",
      usage: { input: 50 },
      price: { request: "5" },
      extras: { isPricedByUnit: true },
      want: 5_000n,
    },
    {
      name: "charges an embedding by token",
      usage: { input: 5 },
      price: { input: "20000" },
      extras: { isPricedByUnit: true },
      want: 100n,
    },
    {
      name: "calls an embedding unpriced that has no price at all",
      usage: { input: 5 },
      price: { output: "1" },
      extras: { isPricedByUnit: true },
      want: 0n,
      unpriced: ["input"],
    },
    {
      name: "takes a price of 0 for a price",
      usage: { imageOutput: 5 },
      price: { images: [{ price: "0" }] },
      extras: { images: [image("512x512", 1)] },
      want: 0n,
    },
  ];
  for (const { name, usage: used = {}, price, extras, want, unpriced = [] } of rows) {
    it(name, () => {
      const cost = computeCost(usageOf(used), price, { requests: 1, ...extras });
      assert.deepEqual(cost, { costNanos: want, unpriced });
    });
  }

  it("names all that was used where a route has no price", () => {
    const cost = computeCost(usageOf({ input: 1, searches: 1 }), undefined, {
      requests: 1,
      characters: 1,
      audioMilliseconds: 1,
      images: [image(undefined, 1)],
    });
    assert.deepEqual(cost, { costNanos: 0n, unpriced: ["input", "images", "audio", "characters", "searches"] });
  });

  const amount = fc.bigInt({ min: 0n, max: 9_000_000_000n * 1_000_000n }).map(String);
  const optionalAmount = fc.option(amount, { nil: undefined });
  const sizes = fc.constantFrom("1024x1024", "512x512");
  const prices: fc.Arbitrary<Price> = fc
    .record({
      input: optionalAmount,
      output: optionalAmount,
      audioInput: optionalAmount,
      imageOutput: optionalAmount,
      characters: optionalAmount,
      audioMinute: optionalAmount,
      request: optionalAmount,
      search: optionalAmount,
      images: fc.array(
        fc.record({ size: fc.option(sizes, { nil: undefined }), price: amount }).map(({ size, price }) => ({
          ...(size === undefined ? {} : { size }),
          price,
        })),
        { maxLength: 3 },
      ),
    })
    .map((all) => Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)));

  const count = fc.integer({ min: 1, max: 100_000_000 });
  const counts = fc.record({
    input: count,
    output: count,
    audioInput: count,
    imageOutput: count,
    searches: count,
    characters: count,
    audioMilliseconds: count,
    square: count,
    small: count,
  });
  type Counts = Record<
    | "input"
    | "output"
    | "audioInput"
    | "imageOutput"
    | "searches"
    | "characters"
    | "audioMilliseconds"
    | "square"
    | "small",
    number
  >;
  const costOf = (all: Counts, price: Price, requests: number): bigint => {
    const { input, output, audioInput, imageOutput, searches, characters, audioMilliseconds } = all;
    const images = [image("1024x1024", all.square), image("512x512", all.small)];
    const used = usageOf({ input, output, audioInput, imageOutput, searches });
    return computeCost(used, price, { requests, characters, audioMilliseconds, images }).costNanos;
  };

  it("is additive before the one rounding: parts cost at most one nano-credit each more than the whole", () => {
    fc.assert(
      fc.property(counts, counts, prices, (a, b, price) => {
        const sum: Counts = { ...a };
        for (const name of Object.keys(a) as (keyof Counts)[]) sum[name] = a[name] + b[name];
        const whole = costOf(sum, price, 2);
        const parts = costOf(a, price, 1) + costOf(b, price, 1);
        assert.ok(parts >= whole && parts - whole <= 1n, `${parts} and ${whole}`);
      }),
    );
  });

  it("is monotone: more of anything never costs less", () => {
    fc.assert(
      fc.property(
        counts,
        fc.constantFrom<keyof Counts>(
          "input",
          "audioInput",
          "imageOutput",
          "searches",
          "characters",
          "audioMilliseconds",
          "square",
          "small",
        ),
        count,
        prices,
        (all, name, more, price) => {
          assert.ok(costOf({ ...all, [name]: all[name] + more }, price, 1) >= costOf(all, price, 1));
        },
      ),
    );
  });

  it("is exact to a third of its unit for any minutes", () => {
    fc.assert(
      fc.property(fc.maxSafeInteger().map(Math.abs), amount, (audioMilliseconds, audioMinute) => {
        const { costNanos } = computeCost(zeroUsage, { audioMinute }, { requests: 1, audioMilliseconds });
        const exact = BigInt(audioMilliseconds) * BigInt(audioMinute) * 1_000n;
        assert.equal(costNanos, (exact + 59_999n) / 60_000n);
      }),
    );
  });
});
