/** Whatever the sizes of its pieces, a queue gives back the bytes that were added, in their order. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { WriteQueue } from "#proxy/http/form/write-queue";

/** A queue to which chunks of these sizes came; each is taken out after so many chunks. */
function passed(sizes: readonly number[], takenEvery: number): { readonly got: Buffer; readonly most: number } {
  const queue = new WriteQueue();
  const got: Buffer[] = [];
  let most = 0;
  const take = (): void => {
    const { pieces, release } = queue.take();
    most = Math.max(most, pieces.length);
    got.push(...pieces.map((piece) => Buffer.from(piece)));
    release();
    assert.ok(queue.isEmpty);
  };
  for (const [index, size] of sizes.entries()) {
    const chunk = Buffer.allocUnsafeSlow(size).fill(index % 251);
    queue.add(chunk);
    queue.endChunk(chunk);
    if (index % takenEvery === takenEvery - 1) take();
  }
  take();
  return { got: Buffer.concat(got), most };
}

describe("WriteQueue", () => {
  it("gives back what was added", () => {
    const size = fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 70_000 }));
    fc.assert(
      fc.property(fc.array(size, { maxLength: 60 }), fc.integer({ min: 1, max: 60 }), (sizes, takenEvery) => {
        const want = Buffer.concat(sizes.map((length, index) => Buffer.alloc(length, index % 251)));
        assert.ok(passed(sizes, takenEvery).got.equals(want));
      }),
      { numRuns: 200 },
    );
  });

  it("joins small pieces", () => {
    assert.ok(passed(Array<number>(200_000).fill(1), 200_000).most <= 4);
    assert.equal(passed([1, 5_000, 1, 1, 5_000], 5).most, 4);
  });

  it("gives the memory of a chunk back at once where nothing of it lies there", () => {
    const queue = new WriteQueue();
    const [small, large] = [Buffer.allocUnsafeSlow(20_000), Buffer.allocUnsafeSlow(20_000)];
    queue.add(small.subarray(0, 100));
    queue.endChunk(small);
    assert.equal(small.buffer.byteLength, 0);
    queue.add(large);
    queue.endChunk(large);
    assert.equal(large.buffer.byteLength, 20_000);
    queue.clear();
    assert.equal(large.buffer.byteLength, 0);
  });
});
