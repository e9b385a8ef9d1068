import assert from "node:assert/strict";
import { BatchLane } from "#proxy/admit/store/batch-lane";
import type { StoreBatch } from "#proxy/admit/store/store-messages";

function batchOf(lane: BatchLane, changes: readonly number[], openReservations: number): StoreBatch {
  lane.changes.set(changes);
  return {
    type: "batch",
    sequence: lane.nextSequence(),
    isWhole: false,
    changes: lane.changes.subarray(0, changes.length),
    rows: [],
    forgotten: [],
    openReservations,
  };
}

describe("BatchLane", () => {
  it("hands over a batch once, and is free again when that is written", () => {
    const ledger = new BatchLane();
    const thread = new BatchLane(ledger.memory);
    assert.equal(thread.receiveBatch(), undefined);
    for (const round of [1, 2, 3]) {
      assert.equal(ledger.isFree, true);
      ledger.offer(batchOf(ledger, [7, 1_000 + round, 2 ** 53 - round], round));
      assert.equal(ledger.isFree, false);
      const taken = thread.receiveBatch();
      assert.ok(taken !== undefined);
      assert.deepEqual([...taken.changes], [7, 1_000 + round, 2 ** 53 - round]);
      assert.equal(taken.openReservations, round);
      assert.equal(thread.receiveBatch(), undefined);
      assert.equal(ledger.isFree, false);
      thread.setWritten(taken.sequence);
    }
    assert.equal(ledger.isFree, true);
  });

  it("is not free while a batch that went by port is on its way", () => {
    const ledger = new BatchLane();
    const thread = new BatchLane(ledger.memory);
    const sequence = ledger.nextSequence();
    ledger.announceMessage();
    assert.equal(ledger.isFree, false);
    assert.equal(thread.receiveBatch(), undefined);
    thread.setWritten(sequence);
    assert.equal(ledger.isFree, true);
  });

  it("tells of each message once", () => {
    const ledger = new BatchLane();
    const thread = new BatchLane(ledger.memory);
    ledger.announceMessage();
    ledger.announceMessage();
    assert.deepEqual([thread.receiveMessage(), thread.receiveMessage(), thread.receiveMessage()], [true, true, false]);
  });

  it("does not sleep through what came after the rings were counted", () => {
    const ledger = new BatchLane();
    const thread = new BatchLane(ledger.memory);
    const { rings } = thread;
    ledger.announceMessage();
    const startMs = performance.now();
    thread.wait(rings, 10_000);
    assert.ok(performance.now() - startMs < 5_000);
  });

  it("goes on when its numbers wrap: a busy proxy sends 2^31 batches in three months", () => {
    const { memory } = new BatchLane();
    // As two sides find it that have written 2^31 - 1 batches: words 1 and 2 are the numbers written and offered.
    new Int32Array(memory).fill(2 ** 31 - 1, 1, 3);
    const ledger = new BatchLane(memory);
    const thread = new BatchLane(memory);
    for (let round = 0; round < 3; round += 1) {
      assert.equal(ledger.isFree, true);
      ledger.offer(batchOf(ledger, [1, 2, round], 0));
      assert.equal(ledger.isFree, false);
      const taken = thread.receiveBatch();
      assert.ok(taken !== undefined);
      assert.equal(taken.changes[2], round);
      thread.setWritten(taken.sequence);
    }
    assert.equal(ledger.isFree, true);
  });
});
