import assert from "node:assert/strict";
import { setImmediate as nextTurn } from "node:timers/promises";
import fc from "fast-check";
import { describe, it } from "mocha";
import { recordingOf } from "#proxy/endpoints/transcripts/recording";
import type { SpooledContent } from "#proxy/multipart/form";
import { boxOf, flacOf, m4aOf, mp3Of, opusOf, taggedOf, wavOf, webmOf } from "#test/support/sounds";

interface TestFile extends SpooledContent {
  readonly bytesRead: () => number;
}

/** A file in pieces whose memory is used again, as the spool gives it, which counts how much is read of it. */
function spooled(bytes: Buffer, pieceBytes = 1_000): TestFile {
  let read = 0;
  return {
    length: bytes.length,
    start: bytes.subarray(0, 64),
    bytesRead: () => read,
    async *chunks(from = 0) {
      const memory = Buffer.alloc(pieceBytes);
      for (let at = from; at < bytes.length; at += pieceBytes) {
        const piece = memory.subarray(0, bytes.copy(memory, 0, at));
        read += piece.length;
        yield piece;
      }
    },
  };
}

const files = {
  mp3: mp3Of(100),
  m4a: m4aOf(375),
  flac: flacOf(3),
  opus: opusOf(5),
  wav: wavOf(2),
  webm: webmOf(5),
};

describe("the length of a recording", () => {
  for (const row of [
    { name: "M4A whose movie stands last", bytes: m4aOf(375, { isMovieLast: true }), want: 8_000 },
    { name: "MP3 behind a picture", bytes: taggedOf(mp3Of(100), 2_000_000), want: 2_613 },
    { name: "WAV", bytes: wavOf(20), want: 20_000 },
  ]) {
    it(`is found of ${row.name}`, async () => {
      assert.deepEqual(await recordingOf(spooled(row.bytes)).length(), { milliseconds: row.want, isMeasured: true });
    });
  }

  const brand = boxOf("ftyp", Buffer.from("M4A \0\0\0\0"));
  for (const row of [
    { name: "M4A without a packet", bytes: m4aOf(0, { told: 0 }) },
    { name: "M4A without a movie", bytes: Buffer.concat([brand, boxOf("mdat", Buffer.alloc(200_000, 5))]) },
    { name: "M4A that is cut in its header", bytes: files.m4a.subarray(0, 50) },
    {
      name: "a file of many boxes",
      bytes: Buffer.concat([brand, Buffer.alloc(800_000, boxOf("free", Buffer.alloc(0)))]),
    },
    { name: "a tag and no sound", bytes: taggedOf(Buffer.alloc(0), 100_000) },
    { name: "a tag that is longer than its file", bytes: taggedOf(mp3Of(3), 100_000).subarray(0, 50_000) },
    { name: "a program stream", bytes: Buffer.concat([Buffer.from([0, 0, 1, 0xba]), Buffer.alloc(50_000, 9)]) },
  ]) {
    it(`is told by the size of ${row.name}`, async () => {
      const want = { milliseconds: Math.ceil(row.bytes.length / 8), isMeasured: false };
      assert.deepEqual(await recordingOf(spooled(row.bytes)).length(), want);
    });
  }

  it("is measured once, and nothing is read of what tells nothing", async () => {
    const wav = spooled(wavOf(100), 64 * 1024);
    const recording = recordingOf(wav);
    assert.deepEqual(await recording.length(), await recording.length());
    assert.equal(wav.bytesRead(), 64 * 1024);
    const movie = spooled(m4aOf(20_000, { isMovieLast: true }), 64 * 1024);
    assert.equal((await recordingOf(movie).length()).isMeasured, true);
    assert.ok(movie.bytesRead() <= 4 * 64 * 1024, `${movie.bytesRead()} bytes`);
  });

  it("is a number for damaged files of every kind", async () => {
    const damaged = fc
      .tuple(
        fc.constantFrom(...Object.values(files)),
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
        const { milliseconds } = await recordingOf(spooled(bytes)).length();
        assert.ok(Number.isInteger(milliseconds) && milliseconds >= 1 && milliseconds <= 86_400_000, `${milliseconds}`);
      }),
      { numRuns: 200 },
    );
  });

  it("lets others have their turn, whatever a file was made of", async () => {
    for (const [name, file] of Object.entries(files)) {
      for (const filling of [[0xff], [0x80], [...Buffer.from("OggS")], [0xa3, 0x80]]) {
        const bytes = Buffer.concat([file.subarray(0, 600), Buffer.alloc(2_000_000, Buffer.from(filling))]);
        const found = await leastOf(3, () => longestTurn(() => recordingOf(spooled(bytes, 256 * 1024)).length()));
        assert.ok(found <= 20, `${name} of ${filling}: ${found} ms`);
      }
    }
  }).timeout(60_000);
});

/** The longest turn of the event loop while it works, in milliseconds of CPU: what others do on this machine is no part of it. */
async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let isOver = false;
  const watch = async (): Promise<void> => {
    for (let before = cpuMs(); !isOver; ) {
      await nextTurn();
      const now = cpuMs();
      longest = Math.max(longest, now - before);
      before = now;
    }
  };
  const watching = watch();
  await work();
  isOver = true;
  await watching;
  return longest;
}

/** What the collector does meanwhile, and nothing else, differs from one time to the next. */
async function leastOf(times: number, measure: () => Promise<number>): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let count = 0; count < times; count += 1) least = Math.min(least, await measure());
  return least;
}

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
