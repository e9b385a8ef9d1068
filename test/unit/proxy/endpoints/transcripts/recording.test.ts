import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, it } from "mocha";
import { recordingOf } from "#proxy/endpoints/transcripts/recording";
import type { SpooledContent } from "#proxy/multipart/form";
import { sniffAudio } from "#proxy/neutral/media/sniff-audio";
import { flacOf, mp3Of, opusOf, wavOf } from "#test/support/sounds";

/** A file in pieces whose memory is used again, as the spool gives it, which counts how often it is read. */
function spooled(bytes: Buffer, pieceBytes = 1_000): SpooledContent & { readonly reads: () => number } {
  let reads = 0;
  return {
    length: bytes.length,
    start: bytes.subarray(0, 64),
    reads: () => reads,
    async *chunks() {
      reads += 1;
      const memory = Buffer.alloc(pieceBytes);
      for (let at = 0; at < bytes.length; at += pieceBytes) {
        yield memory.subarray(0, bytes.copy(memory, 0, at));
      }
    },
  };
}

async function lengthOf(bytes: Buffer, content = spooled(bytes)) {
  const container = sniffAudio(bytes.subarray(0, 64));
  assert.ok(container !== undefined, "no recording");
  return recordingOf(content, container).length();
}

function box(type: string, content: Buffer, size = content.length + 8): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(size, 0);
  head.write(type, 4, "latin1");
  return Buffer.concat([head, content]);
}

/** @param units thousandths of a second */
function movieOf(units: number, version = 0): Buffer {
  const header = Buffer.alloc(version === 1 ? 112 : 100);
  header[0] = version;
  header.writeUInt32BE(1_000, version === 1 ? 20 : 12);
  if (version === 1) header.writeBigUInt64BE(BigInt(units), 24);
  else header.writeUInt32BE(units, 16);
  return box("moov", Buffer.concat([box("mvhd", header), box("trak", Buffer.alloc(50))]));
}

const brand = box("ftyp", Buffer.from("M4A \0\0\0\0"));
const data = box("mdat", Buffer.alloc(200_000, 5));
/** A size of 64 bits, as long files have. */
const largeData = box("mdat", Buffer.concat([Buffer.from("0000000000030d40", "hex"), Buffer.alloc(199_984)]), 1);

function tagged(sound: Buffer, tagBytes: number): Buffer {
  const size = [21, 14, 7, 0].map((shift) => (tagBytes >> shift) & 0x7f);
  return Buffer.concat([Buffer.from("ID3\x04\0\0", "latin1"), Buffer.from(size), Buffer.alloc(tagBytes, 1), sound]);
}

describe("the length of a recording", () => {
  for (const row of [
    { name: "M4A whose movie stands first", bytes: Buffer.concat([brand, movieOf(12_345), data]), want: 12_345 },
    { name: "M4A whose movie stands last", bytes: Buffer.concat([brand, data, movieOf(12_345)]), want: 12_345 },
    { name: "M4A of large boxes", bytes: Buffer.concat([brand, largeData, movieOf(12_345, 1)]), want: 12_345 },
    { name: "WAV", bytes: wavOf(20), want: 20_000 },
    { name: "Opus, by its last page", bytes: opusOf(100), want: 100_000 },
    { name: "FLAC, by its head", bytes: flacOf(60), want: 60_000 },
    { name: "MP3 behind a picture", bytes: tagged(mp3Of(100), 300_000), want: 2_613 },
  ]) {
    it(`is found of ${row.name}`, async () => {
      assert.deepEqual(await lengthOf(row.bytes), { milliseconds: row.want, isMeasured: true });
    });
  }

  for (const row of [
    { name: "M4A in fragments", bytes: Buffer.concat([brand, movieOf(0), data]) },
    { name: "M4A without a movie", bytes: Buffer.concat([brand, data]) },
    { name: "M4A that is cut in its header", bytes: Buffer.concat([brand, movieOf(5).subarray(0, 30)]) },
    { name: "a tag and no sound", bytes: tagged(Buffer.alloc(0), 100_000) },
    { name: "a tag that is longer than its file", bytes: tagged(mp3Of(3), 100_000).subarray(0, 50_000) },
    { name: "a program stream", bytes: Buffer.concat([Buffer.from([0, 0, 1, 0xba]), Buffer.alloc(50_000, 9)]) },
  ]) {
    it(`is told by the size of ${row.name}`, async () => {
      assert.deepEqual(await lengthOf(row.bytes), { milliseconds: Math.ceil(row.bytes.length / 8), isMeasured: false });
    });
  }

  it("is measured once", async () => {
    const content = spooled(wavOf(1));
    const recording = recordingOf(content, "wav");
    assert.deepEqual(await recording.length(), await recording.length());
    assert.ok(content.reads() <= 2, `${content.reads()} times`);
  });

  it("takes few looks into a file of many boxes, and parses nothing beyond the ends of another", async () => {
    const boxes = Buffer.concat([brand, ...Array.from({ length: 100_000 }, () => box("free", Buffer.alloc(0)))]);
    const content = spooled(boxes, 64 * 1024);
    assert.equal((await lengthOf(boxes, content)).isMeasured, false);
    assert.ok(content.reads() <= 16, `${content.reads()} times`);
    const pages = Buffer.concat(Array.from({ length: 3_000 }, () => opusOf(0)));
    const many = spooled(pages, 64 * 1024);
    await lengthOf(pages, many);
    assert.ok(many.reads() <= 2, `${many.reads()} times`);
  });

  it("is a number for damaged files of every kind", async () => {
    const files = [
      Buffer.concat([brand, movieOf(9), data.subarray(0, 50)]),
      mp3Of(3),
      opusOf(1),
      flacOf(1).subarray(0, 200),
      wavOf(0.01),
    ];
    const damaged = fc
      .tuple(
        fc.constantFrom(...files),
        fc.array(fc.tuple(fc.integer({ min: 12, max: 250 }), fc.nat(255)), { maxLength: 8 }),
        fc.integer({ min: 64, max: 900 }),
      )
      .map(([file, edits, end]) => {
        const copy = Buffer.from(file.subarray(0, end));
        for (const [at, value] of edits) if (at < copy.length) copy[at] = value;
        return copy;
      });
    await fc.assert(
      fc.asyncProperty(damaged, async (bytes) => {
        const { milliseconds } = await lengthOf(bytes);
        assert.ok(Number.isInteger(milliseconds) && milliseconds >= 1 && milliseconds <= 86_400_000, `${milliseconds}`);
      }),
      { numRuns: 200 },
    );
  });
});
