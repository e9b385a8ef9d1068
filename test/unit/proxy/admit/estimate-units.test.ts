import assert from "node:assert/strict";
import fc from "fast-check";
import { estimateUnits, type UnitsNeeded } from "#proxy/admit/estimate-units";
import { chargedKind } from "#proxy/settle/image-price";
import { computeCost, type Price } from "#proxy/settle/price";
import { zeroUsage } from "#proxy/settle/usage";

describe("estimateUnits()", () => {
  const sizes: Price = {
    images: [
      { size: "1024x1024", quality: "low", price: "10000" },
      { size: "1024x1024", quality: "high", price: "160000" },
      { size: "1536x1024", quality: "high", price: "250000" },
    ],
  };
  const image = (size: string | undefined, count: number, quality?: string) => ({ size, quality, count });

  const rows: readonly { name: string; needed: UnitsNeeded; price: Price | undefined; want: bigint }[] = [
    { name: "a request alone", needed: {}, price: { request: "5" }, want: 5_000n },
    { name: "tokens of input", needed: { usage: { input: 5 } }, price: { input: "20000" }, want: 100n },
    { name: "search units", needed: { searches: 2 }, price: { search: "1000" }, want: 2_000_000n },
    { name: "characters", needed: { characters: 10 }, price: { characters: "1000000" }, want: 10_000n },
    { name: "minutes", needed: { audioMilliseconds: 30_000 }, price: { audioMinute: "6000" }, want: 3_000_000n },
    {
      name: "audio tokens instead of minutes where they are dearer",
      needed: { audioMilliseconds: 30_000, usage: { audioInput: 1_000 } },
      price: { audioMinute: "6000", audioInput: "6000000" },
      want: 6_000_000n,
    },
    {
      name: "images of a size and quality",
      needed: { images: [image("1024x1024", 4, "low")] },
      price: sizes,
      want: 40_000_000n,
    },
    {
      name: "images of any quality at the dearest of their size",
      needed: { images: [image("1024x1024", 2, "auto")] },
      price: sizes,
      want: 320_000_000n,
    },
    {
      name: "images of any size and quality at the dearest of all",
      needed: { images: [image(undefined, 2)] },
      price: sizes,
      want: 500_000_000n,
    },
    {
      name: "no tokens of images that are charged by the piece",
      needed: { images: [image("1024x1024", 1, "low")], usage: { imageOutput: 1_000_000 } },
      price: { ...sizes, output: "4000000" },
      want: 10_000_000n,
    },
    {
      name: "the tokens of images where their size may have no price, and they are dearer",
      needed: { images: [image("auto", 1, "low")], usage: { imageOutput: 1_000_000 } },
      price: { ...sizes, output: "4000000" },
      want: 4_000_000_000n,
    },
    {
      name: "the tokens of images without a price",
      needed: { images: [image("512x512", 1)], usage: { imageOutput: 1_000_000 } },
      price: { output: "4000000" },
      want: 4_000_000_000n,
    },
    { name: "nothing without a price", needed: { images: [image("512x512", 1)] }, price: undefined, want: 0n },
  ];
  for (const { name, needed, price, want } of rows) {
    it(`reserves ${name}`, () => assert.equal(estimateUnits(needed, price).costNanos, want));
  }

  it("reserves one request and its tokens", () => {
    const { requests, inputTokens, outputTokens } = estimateUnits(
      { usage: { input: 5, imageInput: 7, imageOutput: 11 } },
      undefined,
    );
    assert.deepEqual([requests, inputTokens, outputTokens], [1n, 12n, 11n]);
  });

  it("reserves at least what the call costs, whatever the reply tells of its images and audio", () => {
    const amount = fc.bigInt({ min: 0n, max: 10n ** 12n }).map(String);
    const size = fc.constantFrom("s", "m", "l");
    const quality = fc.constantFrom("low", "high");
    const entry = fc.record({ size, quality, price: amount }, { requiredKeys: ["price"] });
    const price = fc.record(
      {
        images: fc.array(entry, { maxLength: 5 }),
        input: amount,
        output: amount,
        imageOutput: amount,
        audioMinute: amount,
        characters: amount,
        request: amount,
      },
      { requiredKeys: [] },
    );
    const made = fc.record({ size, quality, count: fc.integer({ min: 1, max: 10 }) });
    const hides = fc.record({ size: fc.boolean(), quality: fc.boolean(), audio: fc.boolean() });
    const count = fc.nat(1_000_000);
    const used = fc.record({ input: count, imageOutput: count, audioInput: count });
    fc.assert(
      fc.property(
        price,
        fc.array(made, { maxLength: 3 }),
        hides,
        used,
        count,
        count,
        (rates, images, hide, tokens, characters, audioMilliseconds) => {
          const asked = images.map((each) => ({
            ...each,
            size: hide.size ? "auto" : each.size,
            quality: hide.quality ? undefined : each.quality,
          }));
          const reserved = estimateUnits({ usage: tokens, images: asked, characters, audioMilliseconds }, rates);
          const told = images.map((each, index) => ({
            ...chargedKind(each, asked[index] ?? each, rates),
            count: each.count,
          }));
          for (const charged of [images, told, asked]) {
            const { costNanos } = computeCost({ ...zeroUsage, ...tokens }, rates, {
              requests: 1,
              images: charged,
              characters,
              audioMilliseconds: hide.audio ? 0 : audioMilliseconds,
            });
            assert.ok(reserved.costNanos >= costNanos, `${reserved.costNanos} and ${costNanos}`);
          }
        },
      ),
      { numRuns: 2_000 },
    );
  });
});
