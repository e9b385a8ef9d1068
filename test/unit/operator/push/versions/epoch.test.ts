import assert from "node:assert/strict";
import { StoredEpochs } from "../../../../../operator/push/versions/epoch.ts";
import { MemoryOwnedData } from "../../../../support/fleet/memory-owned-data.ts";
import { ManualTimers } from "../../../../support/manual-timers.ts";

describe("StoredEpochs", () => {
  let store: MemoryOwnedData;

  beforeEach(() => {
    store = new MemoryOwnedData();
  });

  it("begins with 1 and writes nothing until it is raised", async () => {
    const epochs = new StoredEpochs(store);
    assert.equal(epochs.current, 1);
    assert.equal(await epochs.refresh(), 1);
    assert.equal(store.writes, 0);
  });

  it("is raised once by several operators that notice the same", async () => {
    const operators = Array.from({ length: 5 }, () => new StoredEpochs(store));
    const raised = await Promise.all(operators.map((epochs) => epochs.raise(1)));
    assert.deepEqual(raised, [2, 2, 2, 2, 2]);
    assert.equal(store.writes, 1);
  });

  it("is raised above what a proxy has seen, where a restore lowered what is stored", async () => {
    await store.write({ epoch: "2", "ca.crt": "kept" }, undefined);
    const epochs = new StoredEpochs(store);
    await epochs.refresh();
    assert.equal(await epochs.raise(7), 8);
    assert.deepEqual(store.data, { epoch: "8", "ca.crt": "kept" });
  });

  it("tells of a higher one, wherever it was raised, and never of a lower one", async () => {
    const [here, there] = [new StoredEpochs(store), new StoredEpochs(store)];
    const told: number[] = [];
    here.onRaise((epoch) => told.push(epoch));
    await there.raise(1);
    await here.refresh();
    store.delete();
    assert.equal(await here.refresh(), 2);
    assert.deepEqual(told, [2]);
  });

  for (const row of [
    { name: "text", epoch: "many" },
    { name: "a negative number", epoch: "-4" },
    { name: "nothing", epoch: "" },
  ]) {
    it(`takes ${row.name} in the ConfigMap for the first epoch`, async () => {
      await store.write({ epoch: row.epoch }, undefined);
      assert.equal(await new StoredEpochs(store).refresh(), 1);
    });
  }

  it("gives up when others write all the time", async () => {
    const epochs = new StoredEpochs({ read: () => store.read(), write: async () => false });
    await assert.rejects(epochs.raise(1), /changed by others/);
  });

  it("is raised once by all the watches that notice one restore, and again by the next restore", async () => {
    const timers = new ManualTimers();
    const epochs = new StoredEpochs(store, timers);
    assert.deepEqual(await Promise.all([epochs.raise(0), epochs.raise(0), epochs.raise(0)]), [2, 2, 2]);
    timers.advance(59_999);
    assert.equal(await epochs.raise(0), 2);
    timers.advance(1);
    assert.equal(await epochs.raise(0), 3);
  });
});
