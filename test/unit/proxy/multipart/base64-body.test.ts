import assert from "node:assert/strict";
import fc from "fast-check";
import { Base64Body } from "#proxy/multipart/base64-body";
import { contentOf } from "#test/support/form-server";

/** In pieces of these sizes, whose memory is used again. */
function inPieces(content: Buffer, sizes: readonly number[]) {
  return {
    length: content.length,
    async *chunks() {
      const memory = Buffer.alloc(64);
      let from = 0;
      for (let index = 0; from < content.length; index += 1) {
        const bytes = content.copy(memory, 0, from, from + (sizes[index] ?? 64));
        from += bytes;
        yield memory.subarray(0, bytes);
      }
    },
  };
}

describe("Base64Body", () => {
  it("is the base64 of the file, however it is cut, each time it is read", async () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 64 }));
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), sizes, async (bytes, cuts) => {
        const content = Buffer.from(bytes);
        const body = new Base64Body(inPieces(content, cuts));
        for (let time = 0; time < 2; time += 1) {
          assert.equal((await contentOf(body)).toString(), content.toString("base64"));
        }
        assert.equal(body.length, content.toString("base64").length);
      }),
      { numRuns: 200 },
    );
  });
});
