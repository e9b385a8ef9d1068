import assert from "node:assert/strict";
import { contentRatios, googleSize, predictRatios } from "#proxy/endpoints/images/dialects/google-sizes";

describe("googleSize", () => {
  const rows: readonly [size: string | undefined, want: string, ratios?: readonly string[]][] = [
    ["1024x1024", "1:1"],
    ["1536x1024", "3:2"],
    ["1024x1536", "2:3"],
    ["1792x1024", "16:9"],
    ["1024x1792", "9:16"],
    ["1024x1536", "3:4", predictRatios],
    ["2560x1080", "21:9 2K"],
    ["2048x2048", "1:1 2K"],
    ["4096x4096", "1:1 4K"],
    ["1x99999", "9:16"],
    ["99999x1", "21:9"],
    ["auto", "none"],
    [undefined, "none"],
  ];
  for (const [size, want, ratios = contentRatios] of rows) {
    it(`makes ${want} of ${size}`, () => {
      const found = googleSize(size, ratios);
      const said = found === undefined ? "none" : [found.aspectRatio, found.imageSize].filter(Boolean).join(" ");
      assert.equal(said, want);
    });
  }
});
