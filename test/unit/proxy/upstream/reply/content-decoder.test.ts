import assert from "node:assert/strict";
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import fc from "fast-check";
import { ContentDecoder } from "#proxy/upstream/reply/content-decoder";
import { waitFor, within } from "#test/support/wait-for";

interface Decoded {
  readonly decoder: ContentDecoder;
  readonly chunks: Buffer[];
  readonly ended: Promise<"end" | Error>;
}

function open(encoding: string): Decoded {
  const chunks: Buffer[] = [];
  let settle: (how: "end" | Error) => void = () => undefined;
  const ended = new Promise<"end" | Error>((resolve) => {
    settle = resolve;
  });
  const decoder = ContentDecoder.for(encoding, {
    onData: (chunk) => chunks.push(chunk),
    onEnd: () => settle("end"),
    onError: settle,
  });
  assert.ok(decoder !== undefined);
  return { decoder, chunks, ended };
}

const unheard = (): never => assert.fail("nothing is to be decoded");
const listener = { onData: unheard, onEnd: unheard, onError: unheard };
const encodings = {
  gzip: gzipSync,
  "x-gzip": gzipSync,
  " GZIP ": gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
} as const;

describe("ContentDecoder", () => {
  for (const encoding of [undefined, "", "identity", " Identity "]) {
    it(`has nothing to do for ${JSON.stringify(encoding)}`, () => {
      assert.equal(ContentDecoder.for(encoding, listener), undefined);
    });
  }

  for (const encoding of ["compress", "gzip, br", "gzip,gzip", "aws-chunked", ["gzip", "br"]]) {
    it(`refuses ${JSON.stringify(encoding)}`, () => {
      assert.throws(() => ContentDecoder.for(encoding, listener), /unsupported content-encoding/);
    });
  }

  for (const [encoding, compress] of Object.entries(encodings)) {
    it(`undoes ${JSON.stringify(encoding)}, cut anywhere`, async () => {
      await fc.assert(
        fc.asyncProperty(fc.uint8Array({ maxLength: 2_000 }), fc.integer({ min: 1, max: 64 }), async (bytes, size) => {
          const { decoder, chunks, ended } = open(encoding);
          const packed = compress(bytes);
          for (let start = 0; start < packed.length; start += size) decoder.write(packed.subarray(start, start + size));
          decoder.end();
          assert.equal(await within(5_000, "the end", ended), "end");
          assert.deepEqual(Buffer.concat(chunks), Buffer.from(bytes));
        }),
        { numRuns: 15 },
      );
    });

    it(`reports ${JSON.stringify(encoding)} that is cut off`, async () => {
      const { decoder, ended } = open(encoding);
      const packed = compress(Buffer.from(Array.from({ length: 1_000 }, (_, index) => (index * index) % 251)));
      decoder.write(packed.subarray(0, packed.length / 2));
      decoder.end();
      assert.ok((await within(5_000, "the error", ended)) instanceof Error);
    });

    it(`reports bytes that are no ${JSON.stringify(encoding)}`, async () => {
      const { decoder, ended } = open(encoding);
      decoder.write(Buffer.from("this is plain text, and rather a lot of it".repeat(20)));
      decoder.end();
      assert.ok((await within(5_000, "the error", ended)) instanceof Error);
    });
  }

  it("lets a stream through before it has ended", async () => {
    const { decoder, chunks } = open("gzip");
    const packed = gzipSync(Buffer.alloc(300_000, "abcdefg"), { level: 0 });
    decoder.write(packed.subarray(0, packed.length / 2));
    await waitFor("the first piece", () => chunks.length > 0);
    decoder.close();
  });

  it("says nothing more once closed", async () => {
    const { decoder, chunks, ended } = open("gzip");
    decoder.close();
    decoder.write(gzipSync("late"));
    decoder.end();
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(chunks.length, 0);
    assert.equal(await Promise.race([ended, Promise.resolve("nothing")]), "nothing");
  });

  it("holds back what is inflated while it is paused", async () => {
    const { decoder, chunks, ended } = open("gzip");
    const held = (): number => chunks.reduce((sum, chunk) => sum + chunk.length, 0);
    decoder.pause();
    decoder.write(gzipSync(Buffer.alloc(10_000_000)));
    decoder.end();
    for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    assert.equal(held(), 0);
    decoder.resume();
    assert.equal(await within(5_000, "the end", ended), "end");
    assert.equal(held(), 10_000_000);
  });
});
