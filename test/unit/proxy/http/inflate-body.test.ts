import assert from "node:assert/strict";
import { setImmediate as nextImmediate } from "node:timers/promises";
import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { InFlightBytes } from "#proxy/http/in-flight-bytes";
import { inflateBody } from "#proxy/http/inflate-body";

const MiB = 1024 * 1024;
const body = Buffer.from(JSON.stringify({ text: "a".repeat(8 * MiB) }));
const codings = [
  ["gzip", gzipSync(body)],
  ["deflate", deflateSync(body)],
  ["br", brotliCompressSync(body)],
  ["zstd", zstdCompressSync(body)],
] as const;

/** Remembers the largest piece that was taken, and the most that was held. */
class WatchedBytes extends InFlightBytes {
  largest = 0;
  most = 0;

  override tryAcquire(bytes: number): boolean {
    const isTaken = super.tryAcquire(bytes);
    if (isTaken) this.largest = Math.max(this.largest, bytes);
    this.most = Math.max(this.most, this.bytes);
    return isTaken;
  }
}

for (const [encoding, packed] of codings)
  describe(`inflateBody of ${encoding}`, () => {
    it("takes what comes out piece by piece", async () => {
      const inFlight = new WatchedBytes(16 * MiB);
      const inflating = inflateBody(packed, encoding, 32 * MiB, inFlight);
      while (inFlight.bytes === 0) await nextImmediate();
      assert.ok(inFlight.bytes < body.length / 2, `${inFlight.bytes} bytes at once`);
      assert.deepEqual(await inflating, body);
      assert.ok(inFlight.largest <= 128 * 1024, `${inFlight.largest} bytes in one piece`);
      assert.equal(inFlight.bytes, body.length);
    });

    it("stops when there is no room for more, and gives back what it took", async () => {
      const inFlight = new InFlightBytes(MiB);
      inFlight.acquire(1_000);
      await assert.rejects(inflateBody(packed, encoding, 32 * MiB, inFlight), { code: "overloaded" });
      assert.equal(inFlight.bytes, 1_000);
    });

    it("gives back what it took of a body that is too large, cut short or followed by something", async () => {
      const inFlight = new WatchedBytes(16 * MiB);
      await assert.rejects(inflateBody(packed, encoding, MiB, inFlight), { code: "body_too_large" });
      assert.ok(inFlight.most <= MiB);
      for (const broken of [packed.subarray(0, -1), Buffer.concat([packed, Buffer.from("x")])])
        await assert.rejects(inflateBody(broken, encoding, 32 * MiB, inFlight), { code: "invalid_json" });
      assert.equal(inFlight.bytes, 0);
    });

    it("holds no more than the cap for many at once", async () => {
      const inFlight = new WatchedBytes(20 * MiB);
      const inflating = Array.from({ length: 10 }, () => inflateBody(packed, encoding, 32 * MiB, inFlight));
      const ends = await Promise.allSettled(inflating);
      const whole = ends.filter(({ status }) => status === "fulfilled").length;
      assert.ok(whole <= 2, `${whole} of 8 MiB each are held`);
      assert.equal(inFlight.bytes, whole * body.length);
    });
  });

describe("inflateBody of zstd with a window", () => {
  const windowed = (windowLog: number): Promise<Buffer> => {
    const params = { [constants.ZSTD_c_windowLog]: windowLog };
    return inflateBody(zstdCompressSync(Buffer.alloc(20_000_000), { params }), "zstd", MiB, new InFlightBytes(MiB));
  };

  it("reads one of 8 MiB and refuses a larger one before it is made", async () => {
    await assert.rejects(windowed(23), { code: "body_too_large" });
    await assert.rejects(windowed(24), { code: "invalid_json" });
  });
});
