import assert from "node:assert/strict";
import { HeldQueue } from "#operator/status/cluster/held-queue";

describe("HeldQueue", () => {
  let queue: HeldQueue;
  beforeEach(() => {
    queue = new HeldQueue([10, 100]);
  });
  const takeAll = (nowMs: number): string[] => {
    const taken: string[] = [];
    for (let id = queue.shift(nowMs); id !== undefined; id = queue.shift(nowMs)) taken.push(id);
    return taken;
  };

  it("gives out what is due, the longest due first", () => {
    queue.put("patient", 100, 0);
    queue.put("soon", 10, 50);
    queue.put("later", 10, 95);
    assert.equal(queue.nextDueMs(), 60);
    assert.deepEqual(takeAll(59), []);
    assert.deepEqual(takeAll(104), ["soon", "patient"]);
    assert.deepEqual(takeAll(105), ["later"]);
  });

  it("brings forward and never puts off", () => {
    queue.put("one", 100, 0);
    queue.put("one", 10, 20);
    queue.put("one", 100, 25);
    assert.deepEqual(takeAll(30), ["one"]);
    assert.equal(queue.size, 0);
  });

  it("knows how long the oldest waits until it is done, also while it is taken", () => {
    queue.put("one", 10, 5);
    queue.put("two", 10, 7);
    assert.equal(queue.shift(20), "one");
    assert.deepEqual([queue.open, queue.oldestSinceMs], [2, 5]);
    queue.put("one", 100, 20);
    queue.done("one");
    assert.deepEqual([queue.open, queue.oldestSinceMs], [2, 5]);
    queue.shift(200);
    queue.shift(200);
    for (const id of ["one", "two"]) queue.done(id);
    assert.deepEqual([queue.open, queue.oldestSinceMs], [0, undefined]);
  });

  it("takes a hundred thousand in a moment", () => {
    const beganMs = performance.now();
    for (let index = 0; index < 100_000; index += 1) queue.put(`${index}`, index % 2 === 0 ? 10 : 100, index);
    assert.equal(takeAll(1_000_000).length, 100_000);
    assert.ok(performance.now() - beganMs < 2_000);
  });
});
