import assert from "node:assert/strict";
import { canPriceImages, chargedKind, countImages, type ImageKind, priceOfImage } from "#proxy/settle/image-price";
import type { Route } from "#proxy/snapshot/types.gen";

type Price = NonNullable<Route["price"]>;
const entries: NonNullable<Price["images"]> = [
  { size: "1024x1024", quality: "hd", price: "8" },
  { size: "1024x1024", price: "4" },
  { quality: "hd", price: "9" },
];
const kind = (size?: string, quality?: string): ImageKind => ({ size, quality });

describe("priceOfImage()", () => {
  for (const row of [
    { name: "takes the entry of both", image: kind("1024x1024", "hd"), want: [8n, 8n, true] },
    { name: "takes an entry without a quality for any", image: kind("1024x1024", "low"), want: [4n, 4n, true] },
    { name: "takes an entry without a size for any", image: kind("1536x1024", "hd"), want: [9n, 9n, true] },
    { name: "has none for a size that no entry has", image: kind("1536x1024", "low"), want: [undefined, 0n, false] },
    {
      name: "charges an unknown quality by an entry without one, and may come to more",
      image: kind("1024x1024", "auto"),
      want: [4n, 8n, true],
    },
    { name: "charges an unknown size by an entry without one", image: kind(undefined, "hd"), want: [9n, 9n, true] },
    {
      name: "charges as the dearest what no entry is sure to fit",
      image: kind("auto", undefined),
      want: [9n, 9n, false],
    },
    { name: "leaves out entries that cannot fit", image: kind(undefined, "low"), want: [4n, 4n, false] },
  ] as const) {
    it(row.name, () => {
      const { charged, dearest, isCertain } = priceOfImage(entries, row.image);
      assert.deepEqual([charged, dearest, isCertain], row.want);
    });
  }

  it("has none where the route has no list", () => {
    assert.deepEqual(priceOfImage(undefined, kind()), { charged: undefined, dearest: 0n, isCertain: false });
  });
});

describe("chargedKind()", () => {
  const price: Price = { images: [{ size: "1024x1024", price: "4" }] };
  for (const row of [
    {
      name: "is what the reply tells",
      told: kind("1024x1024", "low"),
      asked: kind("auto"),
      want: kind("1024x1024", "low"),
    },
    {
      name: "is what was asked for where the reply tells nothing",
      told: kind(),
      asked: kind("1024x1024", "hd"),
      want: kind("1024x1024", "hd"),
    },
    {
      name: "is what was asked for where the reply tells a size without a price",
      told: kind("512x512", "low"),
      asked: kind("auto"),
      want: kind("auto"),
    },
  ]) {
    it(row.name, () => assert.deepEqual(chargedKind(row.told, row.asked, price), row.want));
  }
});

describe("canPriceImages()", () => {
  const square = kind("1024x1024");
  for (const row of [
    {
      name: "an entry that fits",
      price: { images: [{ size: "1024x1024", price: "0" }] },
      images: [square],
      want: true,
    },
    {
      name: "an entry that could fit",
      price: { images: [{ size: "1024x1024", price: "4" }] },
      images: [kind("auto")],
      want: true,
    },
    {
      name: "an entry for one of two",
      price: { images: [{ size: "1024x1024", price: "4" }] },
      images: [square, kind("512x512")],
      want: false,
    },
    { name: "tokens of images", price: { imageOutput: "1" }, images: [square], want: true },
    { name: "tokens of output", price: { output: "1" }, images: [square], want: true },
    { name: "requests", price: { request: "1" }, images: [square], want: true },
    { name: "tokens of input", price: { input: "1" }, images: [square], want: false },
    { name: "nothing", price: undefined, images: [square], want: false },
  ]) {
    it(`says ${row.want} for a price of ${row.name}`, () =>
      assert.equal(canPriceImages(row.images, row.price), row.want));
  }
});

it("countImages() adds up the images of all kinds", () => {
  assert.equal(
    countImages([
      { ...kind("a"), count: 2 },
      { ...kind("b"), count: 3 },
    ]),
    5,
  );
  assert.equal(countImages(undefined), 0);
});
