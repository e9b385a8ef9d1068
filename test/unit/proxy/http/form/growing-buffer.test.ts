import assert from "node:assert/strict";
import fc from "fast-check";
import { GrowingBuffer } from "#proxy/http/form/growing-buffer";

describe("GrowingBuffer", () => {
  it("holds what was added, in its order, up to its bound", () => {
    const pieces = fc.array(fc.uint8Array({ maxLength: 3_000 }), { maxLength: 20 });
    fc.assert(
      fc.property(pieces, (added) => {
        const want = Buffer.concat(added);
        const buffer = new GrowingBuffer(want.length);
        for (const piece of added) buffer.add(Buffer.from(piece));
        assert.equal(buffer.length, want.length);
        assert.ok(buffer.bytes.equals(want));
        buffer.clear();
        assert.equal(buffer.length, 0);
      }),
    );
  });
});
