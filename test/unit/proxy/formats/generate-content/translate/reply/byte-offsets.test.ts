import assert from "node:assert/strict";
import fc from "fast-check";
import { ByteOffsets } from "#proxy/formats/generate-content/translate/reply/byte-offsets";

describe("ByteOffsets", () => {
  it("counts every character of any text in both ways", () => {
    const long = fc
      .array(
        fc.constantFrom("a", "é", "€", "😀", "\u0080", "\u07ff", "\u0800", "\uffff", "\u{10000}", "plain words "),
        { maxLength: 700 },
      )
      .map((all) => all.join(""));
    fc.assert(
      fc.property(fc.oneof(long, fc.string({ unit: "grapheme" })), (text) => {
        const offsets = new ByteOffsets(text);
        assert.equal(offsets.bytesTotal, Buffer.byteLength(text));
        let units = 0;
        let bytes = 0;
        for (const character of text) {
          assert.deepEqual([offsets.toBytes(units), offsets.toUnits(bytes)], [bytes, units]);
          units += character.length;
          bytes += Buffer.byteLength(character);
        }
        assert.deepEqual([offsets.toBytes(units), offsets.toUnits(bytes)], [bytes, units]);
      }),
    );
  });

  it("knows no place within a character or behind the end", () => {
    const offsets = new ByteOffsets("aé");
    assert.deepEqual(
      [0, 1, 2, 3, 4].map((bytes) => offsets.toUnits(bytes)),
      [0, 1, undefined, 2, undefined],
    );
  });
});
