import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, it } from "mocha";
import { SoundLength, samplesMilliseconds } from "#proxy/settle/sound/sound-length";
import {
  aacOf,
  denseMp3Of,
  flacOf,
  fragmentedM4aOf,
  m4aOf,
  mp3Of,
  oggFlacOf,
  opusOf,
  taggedOf,
  vorbisHead,
  vorbisOf,
  wavOf,
  webmOf,
} from "#test/support/sounds";

function lengthOf(sound: Buffer, pieceBytes = sound.length): number | undefined {
  const length = new SoundLength();
  for (let at = 0; at < sound.length; at += pieceBytes) {
    // Its memory is used again, as that of a spool is.
    const piece = Buffer.from(sound.subarray(at, at + pieceBytes));
    length.push(piece);
    piece.fill(0xff);
  }
  return length.end();
}

/** A copy with other bytes at a place. */
function edited(sound: Buffer, at: number, bytes: readonly number[]): Buffer {
  const copy = Buffer.from(sound);
  copy.set(bytes, at);
  return copy;
}

const sounds = {
  mp3: mp3Of(100),
  aac: aacOf(75),
  opus: opusOf(5),
  vorbis: vorbisOf(5),
  flac: flacOf(3),
  wav: wavOf(2),
  m4a: m4aOf(375),
  webm: webmOf(5),
};

const skeleton = { head: Buffer.from("fishead\0".padEnd(64, "\0"), "latin1"), serial: 9 };

/** A stream of Vorbis of which nothing follows. */
function mute(serial: number): { head: Buffer; serial: number } {
  return { head: vorbisHead(4_000_000_000), serial };
}

const manyMute = Array.from({ length: 300 }, (_, index) => mute(2 + index));

describe("the length of a sound", () => {
  for (const row of [
    { name: "MP3", sound: sounds.mp3, want: 2_613 },
    { name: "a long MP3", sound: mp3Of(10_000), want: 261_225 },
    { name: "MP3 behind a picture", sound: taggedOf(mp3Of(100), 300_000), want: 2_613 },
    {
      name: "MP3 behind a tag and some zeros",
      sound: taggedOf(Buffer.concat([Buffer.alloc(50), mp3Of(100)]), 9),
      want: 2_613,
    },
    { name: "FLAC behind a tag", sound: taggedOf(flacOf(3), 1_000), want: 3_000 },
    {
      name: "MP3 between bytes that are none",
      sound: Buffer.concat([mp3Of(50), Buffer.alloc(999, 7), mp3Of(50)]),
      want: 2_613,
    },
    {
      name: "MP3 whose first frame tells of ten",
      sound: edited(mp3Of(100), 36, [...Buffer.from("Xing\0\0\0\x01\0\0\0\x0a", "latin1")]),
      want: 2_613,
    },
    { name: "AAC", sound: sounds.aac, want: 3_200 },
    { name: "Opus", sound: sounds.opus, want: 5_000 },
    { name: "a long Opus", sound: opusOf(100), want: 100_000 },
    { name: "two Opus, one behind the other", sound: Buffer.concat([opusOf(5), opusOf(3)]), want: 8_000 },
    { name: "Opus whose last page tells of no time", sound: opusOf(5, { granule: 312 }), want: 5_000 },
    { name: "Opus behind a table of streams", sound: opusOf(5, { others: [skeleton] }), want: 5_000 },
    { name: "Opus behind a stream that says nothing", sound: opusOf(5, { others: [mute(7)] }), want: 5_000 },
    // Heads of streams that share its place are taken for a packet each.
    { name: "Opus whose stream begins once more", sound: opusOf(5, { others: [mute(1)] }), want: 5_020 },
    { name: "Opus among many streams", sound: opusOf(5, { others: manyMute }), want: 5_080 },
    { name: "Vorbis", sound: sounds.vorbis, want: 5_000 },
    { name: "two Vorbis, one behind the other", sound: Buffer.concat([vorbisOf(5), vorbisOf(3)]), want: 8_000 },
    { name: "FLAC in Ogg", sound: oggFlacOf(5), want: 5_000 },
    { name: "FLAC", sound: sounds.flac, want: 3_000 },
    { name: "a long FLAC", sound: flacOf(60), want: 60_000 },
    { name: "M4A whose movie stands first", sound: sounds.m4a, want: 8_000 },
    { name: "M4A whose movie stands last", sound: m4aOf(375, { isMovieLast: true }), want: 8_000 },
    { name: "M4A of large boxes", sound: m4aOf(375, { isLong: true, isMovieLast: true }), want: 8_000 },
    { name: "M4A in fragments", sound: fragmentedM4aOf([100, 275]), want: 8_000 },
    {
      name: "M4A in fragments beside pictures",
      sound: fragmentedM4aOf([100, 275], { hasPictures: true }),
      want: 8_000,
    },
    { name: "M4A beside pictures", sound: m4aOf(375, { hasPictures: true }), want: 8_000 },
    {
      name: "M4A of a hasty description, by what its decoder reads",
      sound: m4aOf(375, { toldRate: 65_535, decoderRate: 3, told: 1 }),
      want: 8_000,
    },
    {
      name: "M4A whose description tells twice the rate of its packets",
      sound: m4aOf(375, { toldRate: 48_000, decoderRate: 6, told: 1 }),
      want: 16_000,
    },
    {
      name: "M4A with another rate where no decoder reads",
      sound: m4aOf(375, { decoyRate: 0, decoderRate: 3, told: 1 }),
      want: 8_000,
    },
    { name: "M4A whose decoder's rate has no meaning", sound: m4aOf(375, { decoderRate: 13 }), want: 8_000 },
    { name: "M4A whose movie tells of a millisecond", sound: m4aOf(375, { told: 1 }), want: 8_000 },
    {
      name: "a movie of a codec that is not known, by its head",
      sound: m4aOf(375, { codec: "alac", told: 9_000 }),
      want: 9_000,
    },
    { name: "WebM of a browser, which tells nothing", sound: sounds.webm, want: 5_000 },
    { name: "WebM whose blocks are all at once", sound: webmOf(5, { blockMs: 0 }), want: 5_000 },
    ...(["xiph", "fixed", "ebml"] as const).map((lacing) => ({
      name: `WebM whose blocks hold five packets each (${lacing})`,
      sound: webmOf(5, { lacing, blockMs: 0 }),
      want: 5_000,
    })),
    { name: "WebM whose packets leave silence out", sound: webmOf(5, { blockMs: 40 }), want: 5_960 },
    { name: "WebM with a second track that says nothing", sound: webmOf(5, { tracks: 2, blockMs: 0 }), want: 5_000 },
    { name: "WebM of another codec, by its head", sound: webmOf(5, { codec: "A_VORBIS", told: 6_000 }), want: 6_000 },
    { name: "WebM of another codec, by its blocks", sound: webmOf(5, { codec: "A_VORBIS" }), want: 4_980 },
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
    { name: "WAV that declares many bytes a second", sound: edited(sounds.wav, 28, [255, 255, 255, 255]), want: 2_000 },
    { name: "WAV that declares large blocks", sound: edited(sounds.wav, 32, [255, 255]), want: 2_000 },
    { name: "WAV of a codec, by 64 kbit/s, whatever it declares", sound: edited(sounds.wav, 20, [0x55]), want: 12_000 },
    {
      name: "WAV of a codec that declares less",
      sound: edited(edited(sounds.wav, 20, [0x31]), 28, [89, 6, 0, 0]),
      want: 59_077,
    },
  ]) {
    it(`of ${row.name} is told by its bytes, in whatever pieces they come`, () => {
      for (const pieceBytes of [row.sound.length, 64 * 1024, 1_001, 7]) {
        assert.equal(lengthOf(row.sound, pieceBytes), row.want, `in pieces of ${pieceBytes}`);
      }
    });
  }

  for (const row of [
    { name: "FLAC that tells of one sample", sound: edited(sounds.flac, 22, [0, 0, 0, 1]), least: 1_250 },
    { name: "Vorbis that tells of one sample", sound: vorbisOf(5, { granule: 1 }), least: 312 },
    { name: "a movie of a codec that is not known", sound: m4aOf(5_000, { codec: "samr", told: 1 }), least: 12_750 },
    { name: "a movie of a codec that loses nothing", sound: m4aOf(5_000, { codec: "alac", told: 1 }), least: 995 },
    { name: "a movie of pictures", sound: m4aOf(5_000, { codec: "samr", told: 1, hasPictures: true }), least: 995 },
    {
      name: "AAC of a hasty description alone",
      sound: Buffer.concat([m4aOf(100, { toldRate: 65_535, told: 1 }), Buffer.alloc(800_000)]),
      least: 10_250,
    },
    { name: "WebM of another codec", sound: webmOf(5, { codec: "A_VORBIS", blockMs: 0, told: 1 }), least: 345 },
    { name: "WAV of the highest rate", sound: edited(sounds.wav, 22, [255, 255, 255, 255, 255, 255]), least: 15 },
  ]) {
    it(`of ${row.name} is that of its bytes at the highest rate at least`, () => {
      const found = lengthOf(row.sound) ?? Number.NaN;
      assert.ok(found >= row.least && found <= 1.1 * row.least + 1, `${found} ms`);
    });
  }

  it("is not lost behind bytes that were never written", () => {
    const sound = denseMp3Of(50_000);
    // The last of them look like a frame of another kind together with the first that follows.
    const found = lengthOf(Buffer.concat([sound.subarray(0, 72), Buffer.alloc(3_000_000, 0xff), sound]), 8_192) ?? 0;
    assert.ok(found >= 3_599_000 && found <= 3_600_072, `${found} ms`);
  });

  it("is never less for bytes between its frames that were made to take long", () => {
    const frame = denseMp3Of(1);
    for (const junkBytes of [3, 9, 12, 30, 60, 600]) {
      const piece = Buffer.concat([frame, Buffer.from("ff00e0".repeat(junkBytes / 3), "hex")]);
      const found = lengthOf(Buffer.concat(Array.from({ length: 20_000 }, () => piece))) ?? 0;
      assert.ok(found >= 72 * 20_000 * 0.99, `${found} ms with ${junkBytes} bytes behind each frame`);
    }
  });

  it("is never less for steps that take too many, which are charged as the densest sound", () => {
    const elements = Buffer.from("a380".repeat(2_000_000), "hex");
    const sound = Buffer.concat([webmOf(5), elements, webmOf(5)]);
    assert.equal(lengthOf(sound, 8_192), sound.length);
  });

  it("of bare samples is exact", () => {
    assert.equal(samplesMilliseconds(48_000), 1_000);
    assert.equal(samplesMilliseconds(48), 1);
    assert.equal(samplesMilliseconds(50), 2);
    assert.equal(samplesMilliseconds(32_000, 16_000), 1_000);
  });

  it("of other bytes is unknown", () => {
    for (const bytes of [
      Buffer.alloc(0),
      Buffer.alloc(5_000, 0x55),
      Buffer.from([0, 0, 1, 0xba]),
      Buffer.from("OggS"),
    ]) {
      assert.equal(lengthOf(bytes), undefined);
    }
  });

  it("is a number, or unknown, for damaged sounds of every kind", () => {
    const damaged = fc
      .tuple(
        fc.constantFrom(...Object.values(sounds)),
        fc.array(fc.tuple(fc.nat(700), fc.nat(255)), { maxLength: 12 }),
        fc.nat(6_000),
      )
      .map(([sound, edits, end]) => {
        const copy = Buffer.from(sound);
        for (const [at, value] of edits) if (at < copy.length) copy[at] = value;
        return copy.subarray(0, end);
      });
    fc.assert(
      fc.property(damaged, fc.integer({ min: 1, max: 3_000 }), (sound, pieceBytes) => {
        const found = lengthOf(sound);
        assert.equal(found, lengthOf(sound, pieceBytes));
        if (found !== undefined) assert.ok(Number.isInteger(found) && found > 0 && found <= 86_400_000, `${found}`);
      }),
      { numRuns: 500 },
    );
  });

  it("takes few steps for any bytes, and holds a head at most", () => {
    for (const [name, sound] of Object.entries(sounds)) {
      for (const filling of [0, 0x80, 0xff]) {
        const length = new SoundLength();
        const bytes = Buffer.concat([sound.subarray(0, 600), Buffer.alloc(3_000_000, filling)]);
        length.push(bytes);
        length.end();
        assert.ok(length.steps <= 1_000_001 + bytes.length / 8, `${name}: ${length.steps} steps`);
        assert.ok(length.heldBytes < 300, `${name}: ${length.heldBytes} bytes`);
      }
    }
  });
});
