import { deepEqual, equal } from "node:assert/strict";
import { setImmediate as afterReading } from "node:timers/promises";
import { batchCallsMax, joinBatch, yieldToBatch } from "#proxy/runtime/request-batch";

describe("joinBatch()", () => {
  it("lets calls that arrive together do each stage one after the other", async () => {
    const done: string[] = [];
    const serve = async (name: string): Promise<void> => {
      await joinBatch();
      done.push(`${name} reads`);
      await yieldToBatch;
      done.push(`${name} decides`);
    };
    await Promise.all(["first", "second", "third"].map(serve));
    deepEqual(done, ["first reads", "second reads", "third reads", "first decides", "second decides", "third decides"]);
  });

  it("begins only when everything that is ready has been read", async () => {
    let hasBegun = false;
    const begun = joinBatch().then(() => {
      hasBegun = true;
    });
    await Promise.resolve();
    equal(hasBegun, false);
    await afterReading();
    equal(hasBegun, true);
    await begun;
  });

  it("gives calls of a later reading a turn of their own", async () => {
    const first = joinBatch();
    await first;
    equal(joinBatch() === first, false);
    await afterReading();
  });

  it("makes turns of a bounded size, in the order of arrival", async () => {
    const done: number[] = [];
    const turns = new Set<Promise<void>>();
    const calls = Array.from({ length: 2 * batchCallsMax + 1 }, async (_, index) => {
      const turn = joinBatch();
      turns.add(turn);
      await turn;
      done.push(index);
    });
    await Promise.all(calls);
    equal(turns.size, 3);
    deepEqual(
      done,
      Array.from({ length: 2 * batchCallsMax + 1 }, (_, index) => index),
    );
  });
});
