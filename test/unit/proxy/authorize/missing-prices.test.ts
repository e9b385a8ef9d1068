import assert from "node:assert/strict";
import { missingPrices } from "#proxy/authorize/missing-prices";
import type { Capability, Key, Route } from "#proxy/snapshot/types.gen";
import { snapshotWith } from "#test/support/snapshot-of";
import { wireAccount, wireKey, wireRoute } from "#test/support/wire-objects";

type Price = NonNullable<Route["price"]>;

const limited = wireKey("limited", { account: "funded" });
const snapshot = snapshotWith(wireAccount("funded", { creditNanos: "5" }));

function missing(capability: Capability, price: Price | undefined, key: Key = limited): string | undefined {
  const route = wireRoute("m", { capabilities: [capability], ...(price === undefined ? {} : { price }) });
  return missingPrices({ key, snapshot, model: "m" }, route, capability);
}

/** Every price a route can have, each alone. */
const alone: Readonly<Record<keyof Price, Price>> = {
  input: { input: "0" },
  cachedInput: { cachedInput: "0" },
  cacheWrite: { cacheWrite: "0" },
  cacheWrite1h: { cacheWrite1h: "0" },
  output: { output: "0" },
  reasoning: { reasoning: "0" },
  audioInput: { audioInput: "0" },
  audioOutput: { audioOutput: "0" },
  imageInput: { imageInput: "0" },
  imageOutput: { imageOutput: "0" },
  characters: { characters: "0" },
  request: { request: "0" },
  audioMinute: { audioMinute: "0" },
  search: { search: "0" },
  images: { images: [{ price: "0" }] },
};

describe("missingPrices()", () => {
  const all: Readonly<Record<Capability, { readonly enough: readonly (keyof Price)[]; readonly lacks: string }>> = {
    Chat: { enough: [], lacks: "input and output" },
    Completion: { enough: [], lacks: "input and output" },
    Realtime: { enough: [], lacks: "input and output" },
    CountTokens: { enough: [], lacks: "input and output" },
    Models: { enough: [], lacks: "input and output" },
    Embeddings: { enough: ["input", "request"], lacks: "input or requests (one is enough)" },
    Moderation: { enough: ["input", "request"], lacks: "input or requests (one is enough)" },
    Rerank: { enough: ["input", "request", "search"], lacks: "searches, input or requests (one is enough)" },
    Speech: {
      enough: ["output", "audioOutput", "characters", "request", "audioMinute"],
      lacks: "characters, minutes of audio, audio output, output or requests (one is enough)",
    },
    Transcription: {
      enough: ["input", "audioInput", "request", "audioMinute"],
      lacks: "minutes of audio, audio input, input or requests (one is enough)",
    },
    Translation: {
      enough: ["input", "audioInput", "request", "audioMinute"],
      lacks: "minutes of audio, audio input, input or requests (one is enough)",
    },
    ImageGeneration: {
      enough: ["output", "imageOutput", "request", "images"],
      lacks: "images, image output, output or requests (one is enough)",
    },
    ImageEdit: {
      enough: ["output", "imageOutput", "request", "images"],
      lacks: "images, image output, output or requests (one is enough)",
    },
    Passthrough: { enough: ["request"], lacks: "requests" },
  };
  const fields = Object.keys(alone) as (keyof Price)[];
  for (const [capability, { enough, lacks }] of Object.entries(all) as [Capability, (typeof all)[Capability]][]) {
    it(`lets ${capability} run with ${enough.join(" or ") || "input and output"}, even at a price of 0`, () => {
      assert.deepEqual(
        fields.filter((field) => missing(capability, alone[field]) === undefined),
        fields.filter((field) => enough.includes(field)),
      );
      const all: Price = { input: "0", output: "0", request: "0" };
      assert.equal(missing(capability, all), undefined);
    });

    it(`names what ${capability} lacks`, () => assert.equal(missing(capability, undefined), lacks));
  }

  it("names only the one of two that chat lacks", () => {
    assert.equal(missing("Chat", { input: "1" }), "output");
    assert.equal(missing("Chat", { output: "1" }), "input");
  });

  it("takes an empty list of image prices for none", () => {
    assert.equal(missing("ImageEdit", { images: [] }), all.ImageEdit.lacks);
  });

  it("lets a key without limits in credits run anything", () => {
    for (const capability of Object.keys(all) as Capability[]) {
      assert.equal(missing(capability, undefined, wireKey("free")), undefined);
    }
  });
});
