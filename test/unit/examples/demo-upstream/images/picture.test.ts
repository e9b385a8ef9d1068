/** Pictures are files that programs can read, and show their text. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, it } from "mocha";
import { drawPicture } from "#examples/demo-upstream/images/picture";
import { readPng } from "#test/support/read-png";

describe("drawPicture()", () => {
  it("shows its text in letters of pixels, in the middle", () => {
    const { bytes, mimeType } = drawPicture({ width: 24, height: 16, text: "Hi 1", isTransparent: false }, "png");
    assert.equal(mimeType, "image/png");
    assert.deepEqual(readPng(bytes).rows.slice(3, 11), [
      "........................",
      "....#.#.###......#......",
      "....#.#..#......##......",
      "....###..#.......#......",
      "....#.#..#.......#......",
      "....#.#.###.....###.....",
      "........................",
      "........................",
    ]);
  });

  it("breaks a text into lines, between words where it can", () => {
    const { bytes } = drawPicture({ width: 24, height: 40, text: "ab cdefgh", isTransparent: false }, "png");
    const inked = readPng(bytes).rows.map((row) => row.includes("#"));
    // Three lines: `ab`, `cdefg` and `h`.
    assert.equal(inked.filter((has, y) => has && inked[y - 1] !== true).length, 3);
  });

  it("makes letters as large as the whole text allows", () => {
    const inkOf = (text: string): number => {
      const { rows } = readPng(drawPicture({ width: 256, height: 256, text, isTransparent: false }, "png").bytes);
      return Math.max(...rows.map((row) => /#+/.exec(row)?.[0].length ?? 0));
    };
    assert.ok(inkOf("L") > inkOf("L".repeat(200)));
  });

  it("writes a picture of the size that was asked for, whatever the text (property)", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary", maxLength: 900 }),
        fc.integer({ min: 16, max: 96 }),
        fc.integer({ min: 16, max: 96 }),
        fc.boolean(),
        (text, width, height, isTransparent) => {
          const png = readPng(drawPicture({ width, height, text, isTransparent }, "png").bytes);
          assert.deepEqual([png.width, png.height, png.isTransparent], [width, height, isTransparent]);
        },
      ),
      { numRuns: 60 },
    );
  });

  it("writes SVG whose text is text, and escapes what would be markup", () => {
    const order = { width: 512, height: 512, text: "<b>灯台</b> & a\u0001", isTransparent: true };
    const { bytes, mimeType } = drawPicture(order, "svg");
    assert.equal(mimeType, "image/svg+xml");
    assert.match(String(bytes), /width="512" height="512"/);
    assert.match(String(bytes), />&lt;b&gt;灯台&lt;\/b&gt; &amp;<\/text>/);
    assert.match(String(bytes), /fill="none"/);
    assert.equal(String(bytes).includes("\u0001"), false);
  });
});
