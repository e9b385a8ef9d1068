import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, it } from "mocha";
import { samplesMilliseconds, soundMilliseconds, soundStartBytes } from "#proxy/settle/sound-length";
import { aacOf, flacOf, mp3Of, opusOf, wavOf } from "#test/support/sounds";

function lengthOf(sound: Buffer): Promise<number | undefined> {
  return soundMilliseconds({ start: sound.subarray(0, soundStartBytes), bytes: sound.length });
}

describe("the length of a sound", () => {
  for (const row of [
    { name: "MP3", sound: mp3Of(100), want: 2_613 },
    { name: "a long MP3, by its rate", sound: mp3Of(10_000), want: 260_625 },
    { name: "AAC", sound: aacOf(100), want: 4_267 },
    { name: "Opus", sound: opusOf(5), want: 5_000 },
    { name: "FLAC", sound: flacOf(3), want: 3_000 },
    { name: "a long FLAC, by its head", sound: flacOf(60), want: 60_000 },
    { name: "WAV", sound: wavOf(1.5), want: 1_500 },
    { name: "WAV of 8 kHz", sound: wavOf(2, { rate: 8_000 }), want: 2_000 },
    { name: "a long WAV", sound: wavOf(100), want: 100_000 },
    {
      name: "WAV that declares no length, since it is sent while it is made",
      sound: wavOf(2, { declaredBytes: 0 }),
      want: 2_000,
    },
    { name: "WAV that declares the most", sound: wavOf(2, { declaredBytes: 0xffff_ffff }), want: 2_000 },
    { name: "WAV that declares less than it holds", sound: wavOf(2, { declaredBytes: 10 }), want: 2_000 },
  ]) {
    it(`of ${row.name} is told by its bytes`, async () => {
      const found = (await lengthOf(row.sound)) ?? Number.NaN;
      assert.ok(Math.abs(found - row.want) <= row.want / 200, `${found} ms, not ${row.want}`);
    });
  }

  it("of Opus beyond its start is told by the rate of the start", async () => {
    const found = (await lengthOf(opusOf(60))) ?? Number.NaN;
    assert.ok(Math.abs(found - 60_000) < 5_000, `${found} ms`);
  });

  it("of bare samples is exact", () => {
    assert.equal(samplesMilliseconds(48_000), 1_000);
    assert.equal(samplesMilliseconds(48), 1);
    assert.equal(samplesMilliseconds(50), 2);
    assert.equal(samplesMilliseconds(32_000, 16_000), 1_000);
  });

  it("of other bytes is unknown, and no bytes break the search", async () => {
    assert.equal(await lengthOf(Buffer.alloc(0)), undefined);
    assert.equal(await lengthOf(Buffer.alloc(5_000, 0x55)), undefined);
    const starts = [mp3Of(3), aacOf(3), opusOf(1), flacOf(1).subarray(0, 200), wavOf(0.01)];
    const damaged = fc
      .tuple(fc.constantFrom(...starts), fc.array(fc.tuple(fc.nat(150), fc.nat(255)), { maxLength: 8 }), fc.nat(600))
      .map(([sound, edits, end]) => {
        const copy = Buffer.from(sound);
        for (const [at, value] of edits) copy[at] = value;
        return copy.subarray(0, end);
      });
    await fc.assert(
      fc.asyncProperty(damaged, async (sound) => {
        const found = await lengthOf(sound);
        assert.ok(found === undefined || (Number.isInteger(found) && found >= 0 && found <= 86_400_000), `${found}`);
      }),
      { numRuns: 200 },
    );
  });
});
