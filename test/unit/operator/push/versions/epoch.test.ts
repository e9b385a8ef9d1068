import assert from "node:assert/strict";
import { setImmediate as turn } from "node:timers/promises";
import { raiseAfterRestore, StoredEpochs } from "#operator/push/versions/epoch";
import { MemoryOwnedData } from "#test/support/fleet/memory-owned-data";
import { ManualTimers } from "#test/support/manual-timers";

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
    await assert.rejects(epochs.raise(1), /other writers keep changing/);
  });

  it("is not raised again for a restore that another operator has raised it for, as a proxy told", async () => {
    const timers = new ManualTimers();
    await store.write({ epoch: "3" }, undefined);
    const [here, there] = [new StoredEpochs(store, timers), new StoredEpochs(store, timers)];
    for (const epochs of [here, there]) await epochs.refresh();
    assert.equal(await there.raise(0), 4, "also just after the start");
    assert.equal(await here.refresh(), 4);
    assert.equal(await here.raise(0), 4);
    timers.advance(60_000);
    assert.equal(await here.raise(0), 5);
  });

  for (const row of [
    { name: "is raised above what is stored for a restore", seen: 0, want: 6 },
    { name: "is not raised for a proxy that has seen less than is stored", seen: 3, want: 5 },
    { name: "is raised above what a proxy has seen", seen: 8, want: 9 },
  ]) {
    it(`${row.name}, also where it was never read`, async () => {
      await store.write({ epoch: "5" }, undefined);
      assert.equal(await new StoredEpochs(store).raise(row.seen), row.want);
      assert.deepEqual(store.data, { epoch: `${row.want}` });
    });
  }

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

describe("raiseAfterRestore", () => {
  it("tries again until the epoch is raised, once for all signs of one restore", async () => {
    const timers = new ManualTimers();
    const store = new MemoryOwnedData();
    const epochs = new StoredEpochs(store, timers);
    const failures: unknown[] = [];
    const refusal = new Error("no rules read yet");
    let refusals = 3;
    const read = store.read.bind(store);
    store.read = async () => {
      if (refusals === 0) return read();
      refusals -= 1;
      throw refusal;
    };
    const restores = raiseAfterRestore({ epochs, timers, onFailure: (cause) => failures.push(cause) });
    restores.raise();
    for (const [failed, waitMs] of [500, 1_000, 2_000].entries()) {
      await settled();
      restores.raise();
      assert.equal(failures.length, failed + 1);
      timers.advance(waitMs - 1);
      await settled();
      assert.equal(failures.length, failed + 1);
      timers.advance(1);
    }
    await settled();
    assert.deepEqual(failures, [refusal, refusal, refusal]);
    assert.equal(epochs.current, 2);
    assert.equal(store.writes, 1);
    timers.advance(60_000);
    restores.raise();
    await settled();
    assert.equal(epochs.current, 3);
  });

  for (const row of [
    { name: "drops a further sign of the restore", sign: "raise", want: [2, 2, 2] },
    { name: "keeps a sign of another one until the first has settled", sign: "raiseAgain", want: [2, 2, 3] },
  ] as const) {
    it(`${row.name}, and raises once for many`, async () => {
      const timers = new ManualTimers();
      const epochs = new StoredEpochs(new MemoryOwnedData(), timers);
      const restores = raiseAfterRestore({ epochs, timers, onFailure: () => assert.fail() });
      restores[row.sign]();
      await settled();
      const seen = [epochs.current];
      timers.advance(40_000);
      for (let sign = 0; sign < 3; sign += 1) restores[row.sign]();
      timers.advance(19_999);
      await settled();
      seen.push(epochs.current);
      timers.advance(1);
      await settled();
      seen.push(epochs.current);
      timers.advance(3_600_000);
      await settled();
      assert.deepEqual([...seen, epochs.current], [...row.want, row.want[2]]);
      restores.close();
    });
  }

  /** A sign is kept against an epoch; then a proxy tells that another operator raised it. */
  async function keptWhileAnotherRaised() {
    const timers = new ManualTimers();
    const store = new MemoryOwnedData();
    const epochs = new StoredEpochs(store, timers);
    const restores = raiseAfterRestore({ epochs, timers, onFailure: () => assert.fail() });
    restores.raise();
    await settled();
    timers.advance(30_000);
    restores.raiseAgain();
    await store.write({ epoch: "7" }, "1");
    await epochs.refresh();
    return { timers, epochs, restores };
  }

  it("lets a kept sign go where an epoch began after it", async () => {
    const { timers, epochs } = await keptWhileAnotherRaised();
    timers.advance(3_600_000);
    await settled();
    assert.equal(epochs.current, 7);
  });

  it("keeps a sign against an epoch that began while one against the epoch before was kept", async () => {
    const { timers, epochs, restores } = await keptWhileAnotherRaised();
    timers.advance(10_000);
    restores.raiseAgain();
    timers.advance(49_999);
    await settled();
    assert.equal(epochs.current, 7);
    timers.advance(1);
    await settled();
    assert.equal(epochs.current, 8);
  });

  it("ends with its operator", async () => {
    const timers = new ManualTimers();
    let asked = 0;
    const epochs = {
      current: 1,
      stableInMs: 0,
      raise: async () => {
        asked += 1;
        throw new Error("away");
      },
    };
    const restores = raiseAfterRestore({ epochs, timers, onFailure: () => undefined });
    restores.raise();
    await settled();
    restores.close();
    timers.advance(60_000);
    restores.raise();
    await settled();
    assert.equal(asked, 1);
  });
});

/** All promises that wait for nothing else are settled. */
async function settled(): Promise<void> {
  for (let turns = 0; turns < 10; turns += 1) await turn();
}
