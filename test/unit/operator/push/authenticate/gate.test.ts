import assert from "node:assert/strict";
import { Gate } from "#operator/push/authenticate/gate";

describe("Gate", () => {
  it("lets a few through at a time, the others in order, and turns away beyond its bound", async () => {
    const gate = new Gate(2, 2);
    const order: number[] = [];
    const releases: (() => void)[] = [];
    const task = (name: number) => () =>
      new Promise<void>((resolve) => {
        order.push(name);
        releases.push(resolve);
      });
    const passed = [1, 2, 3, 4].map((name) => gate.pass(task(name)));
    await assert.rejects(gate.pass(task(5)), /too many/);
    assert.deepEqual(order, [1, 2]);
    releases[0]?.();
    await passed[0];
    await Promise.resolve();
    assert.deepEqual(order, [1, 2, 3]);
    for (const [index, one] of passed.entries()) {
      while (releases[index] === undefined) await Promise.resolve();
      releases[index]();
      await one;
    }
    assert.deepEqual(order, [1, 2, 3, 4]);
  });

  it("gives a place free again when a task fails", async () => {
    const gate = new Gate(1, 1);
    await assert.rejects(
      gate.pass(() => Promise.reject(new Error("failed"))),
      /failed/,
    );
    assert.equal(await gate.pass(async () => 7), 7);
  });
});
