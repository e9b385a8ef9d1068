import assert from "node:assert/strict";
import { outputTokensAtMost, tokensOfImage } from "#proxy/endpoints/images/replies/image-tokens";

describe("tokensOfImage", () => {
  // As OpenAI publishes them; of the wide ones it publishes 400, 1,568 and 6,208.
  for (const [quality, square, tall] of [
    ["low", 272, 408],
    ["medium", 1_056, 1_584],
    ["high", 4_160, 6_240],
  ] as const) {
    it(`counts ${quality} as it is published`, () => {
      assert.equal(tokensOfImage({ size: "1024x1024", quality }), square);
      assert.equal(tokensOfImage({ size: "1024x1536", quality }), tall);
    });
  }

  it("takes the dearest of the usual ones for what nobody names", () => {
    for (const kind of [
      { size: undefined, quality: undefined },
      { size: "auto", quality: "auto" },
      { size: "auto", quality: "constructor" },
    ]) {
      assert.equal(tokensOfImage(kind), 6_240);
    }
  });

  it("stays within what a picture can come to, however large it is asked for", () => {
    assert.equal(tokensOfImage({ size: "99999x99999", quality: "high" }), 16 * 4_160);
  });
});

describe("outputTokensAtMost", () => {
  const call = {
    asked: { size: "1024x1024", quality: "low" },
    count: 3,
    frames: 1,
    partialImages: 2,
    isDrawnAsText: false,
  };
  for (const row of [
    { name: "counts pictures and those shown before them", call, want: { output: 0, imageOutput: 3 * (272 + 200) } },
    {
      name: "counts frames",
      call: { ...call, partialImages: 0, frames: 4 },
      want: { output: 0, imageOutput: 12 * 272 },
    },
    {
      name: "counts drawings as text",
      call: { ...call, isDrawnAsText: true },
      want: { output: 3 * 16_384, imageOutput: 0 },
    },
  ]) {
    it(row.name, () => assert.deepEqual(outputTokensAtMost(row.call), row.want));
  }
});
