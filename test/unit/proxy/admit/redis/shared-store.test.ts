/** When a shared store is counted in and when it is left, with a connection that the test plays. */
import assert from "node:assert/strict";
import { SharedStore, type SharedStoreOptions } from "#proxy/admit/redis/shared-store";
import type { ConnectionEvents, StoreConnection } from "#proxy/admit/redis/store-connection";
import { waitFor } from "#test/support/wait-for";

const command = ["touch", "1", "id"] as const;

describe("SharedStore", () => {
  let store: SharedStore;
  let states: string[];
  let events: ConnectionEvents;
  /** What the connection was told and asked. */
  let reconnects: string[];
  let runs: number;
  let info: string;
  let storeMs: number;
  /** What the script says to each command. */
  let answer: (name: string) => unknown;
  let delayMs: number;

  beforeEach(() => {
    states = [];
    reconnects = [];
    runs = 0;
    info = "role:master\r\nmaxmemory_policy:noeviction\r\nrun_id:a\r\nevicted_keys:7\r\n";
    storeMs = Date.now();
    answer = (name) => (name === "probe" ? "writes" : "touched");
    delayMs = 0;
  });
  afterEach(() => store.close());

  async function later<T>(value: T): Promise<T> {
    if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
    return value;
  }

  const connection: StoreConnection = {
    runScript: (_script, _key, values) => {
      runs += 1;
      const answers: unknown[] = [];
      for (let at = 2; at < values.length; at += 2 + Number(values[at + 1])) answers.push(answer(values[at] ?? ""));
      return later(["done", String(storeMs), 0, 0, 0, ...answers]);
    },
    get: () => later("epoch"),
    setIfAbsent: () => later(false),
    scan: () => later(["0", []] as const),
    info: () => later(info),
    reconnect: (reason) => {
      reconnects.push(reason);
      events.onLost(reason);
      setImmediate(() => events.onReady());
    },
    close: () => undefined,
  };

  async function open(more: Partial<SharedStoreOptions> = {}): Promise<void> {
    store = new SharedStore({
      connect: (given) => {
        events = given;
        setImmediate(() => given.onReady());
        return connection;
      },
      prefix: "{test}",
      reservationTtlMs: 60_000,
      answerMs: 50,
      epoch: { read: () => "epoch", mayBegin: false, keep: () => undefined },
      onSideEffects: () => undefined,
      onWarning: () => undefined,
      onState: ({ kind, message }) => states.push(`${kind}: ${message}`),
      ...more,
    });
    await waitFor("the first state", () => states.length > 0);
  }

  for (const words of ["OOM command not allowed", "MISCONF Redis is configured", "NOREPLICAS Not enough"])
    it(`leaves a store at once that answers ${words}, and is back when it takes writes`, async () => {
      await open();
      assert.deepEqual(states, ["usable: "]);
      answer = () => ["error", words];
      await store.submit(command);
      assert.equal(store.isUsable, false);
      await waitFor("the probe to fail", () => states.length === 3);
      assert.match(states[2] ?? "", new RegExp(`takes no writes: ${words}`));
      answer = () => "writes";
      await waitFor("it to be usable", () => store.isUsable);
      assert.deepEqual(reconnects, []);
    });

  it("stays with a store that refuses one command alone", async () => {
    await open();
    answer = () => ["error", "WRONGTYPE Operation against a key"];
    for (let round = 0; round < 5; round += 1) await store.submit(command);
    assert.equal(store.isUsable, true);
  });

  it("connects anew where it reached a replica, however it learns of it, and not in a tight loop", async () => {
    await open();
    answer = () => ["error", "READONLY You can't write against a read only replica."];
    const startedMs = performance.now();
    await store.submit(command);
    await waitFor("two new connections", () => reconnects.length === 2);
    assert.ok(performance.now() - startedMs > 300, "each after a pause");
    info = info.replace("master", "slave");
    answer = () => "writes";
    const before = reconnects.length;
    await waitFor("another connection", () => reconnects.length > before + 1);
    assert.match(reconnects.at(-1) ?? "", /is a slave, not the primary/);
    info = info.replace("slave", "master");
    await waitFor("it to be usable", () => store.isUsable);
  });

  for (const row of [
    { name: "may forget counters", change: ["noeviction", "allkeys-lru"], state: /unsafe: .*maxmemory-policy/ },
    { name: "is a replica by now", change: ["master", "slave"], state: /failing: .*not the primary/ },
    { name: "has evicted keys", change: ["evicted_keys:7", "evicted_keys:9"], state: /lost: .*evicted 2 keys/ },
  ] as const)
    it(`notices that a store in use ${row.name}`, async () => {
      await open({ watchEveryMs: 20 });
      assert.equal(store.isUsable, true);
      info = info.replace(row.change[0], row.change[1]);
      await waitFor("the change to be seen", () => !store.isUsable);
      assert.match(states[1] ?? "", row.state);
    });

  it("stays closed after an eviction, also when it is over, and not for one before its time", async () => {
    await open({ watchEveryMs: 20 });
    info = info.replace("evicted_keys:7", "evicted_keys:8");
    await waitFor("the loss to be seen", () => states.some((state) => state.startsWith("lost")));
    events.onLost("gone");
    events.onReady();
    await waitFor("another check", () => states.length >= 4);
    assert.match(states.at(-1) ?? "", /^lost: .*evicted/);
    await store.close();
    states = [];
    await open();
    assert.deepEqual(states, ["usable: "]);
  });

  it("takes an eviction count that begins anew with another store for no loss", async () => {
    await open({ watchEveryMs: 10 });
    let looks = 0;
    const look = async (): Promise<string> => {
      looks += 1;
      return other;
    };
    const other = "role:master\r\nmaxmemory_policy:noeviction\r\nrun_id:b\r\nevicted_keys:100\r\n";
    Object.defineProperty(connection, "info", { configurable: true, value: look });
    try {
      await waitFor("three looks", () => looks >= 3);
      assert.equal(store.isUsable, true);
    } finally {
      Object.defineProperty(connection, "info", { configurable: true, value: () => later(info) });
    }
  });

  for (const wrong of [0, Date.UTC(2019), Date.UTC(2200), 8.64e15, Number.MAX_SAFE_INTEGER, Number.NaN])
    it(`counts by no store whose clock says ${wrong}`, async () => {
      storeMs = wrong;
      await open();
      assert.match(states[0] ?? "", /failing: .*(clock is wrong|form that is not)/);
      assert.ok(Math.abs(store.nowMs - Date.now()) < 60_000, "its time is not taken");
    });

  it("says one line of a store that is slow, however long it takes", async () => {
    delayMs = 60;
    await open();
    const before = runs;
    await waitFor("three more checks", () => {
      delayMs = 60 + (runs % 7);
      return runs >= before + 3;
    });
    assert.deepEqual(states, ["failing: the store is slow: it takes longer than 50 ms for one question"]);
  });

  it("waits for a command as long as it is told, and for others as long as ever", async () => {
    await open();
    delayMs = 30;
    const startedMs = performance.now();
    const [short, usual] = [store.submit(command, 5), store.submit(command)];
    await assert.rejects(short, /did not answer in time/);
    assert.ok(performance.now() - startedMs < 28);
    assert.equal((await usual).answer, "touched");
  });
});
