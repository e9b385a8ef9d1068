import assert from "node:assert/strict";
import { mock } from "node:test";
import { afterEach, beforeEach, describe, it } from "mocha";
import type { Ledger } from "#proxy/admit/ledger";
import { MemoryLedger } from "#proxy/admit/memory-ledger";
import { ReservationHeartbeat } from "#proxy/dispatch/reservations/reservation-heartbeat";

const ttlMs = 60_000;

describe("ReservationHeartbeat", () => {
  let touched: string[] = [];
  let live: ReservationHeartbeat;

  beforeEach(() => {
    mock.timers.enable({ apis: ["setInterval"] });
    touched = [];
    const memory = new MemoryLedger({ now: Date.now, reservationTtlMs: ttlMs });
    const ledger: Ledger = {
      reserve: (request) => memory.reserve(request),
      settle: (id, actual) => memory.settle(id, actual),
      read: (counter) => memory.read(counter),
      close: () => memory.close(),
      touch: (id) => touched.push(id),
    };
    live = new ReservationHeartbeat(ledger, ttlMs);
  });
  afterEach(() => {
    live.close();
    mock.timers.reset();
  });

  it("touches all that run four times within their time to live, as long as they run", () => {
    live.add("a");
    live.add("b");
    mock.timers.tick(ttlMs / 4 - 1);
    assert.deepEqual(touched, []);
    mock.timers.tick(1);
    assert.deepEqual(touched, ["a", "b"]);
    for (let touches = 0; touches < 7; touches += 1) mock.timers.tick(ttlMs / 4);
    assert.equal(touched.filter((id) => id === "a").length, 8);
  });

  it("touches each in its own time, so that those of many calls are spread", () => {
    for (let index = 0; index < 100; index += 1) {
      live.add(`call-${index}`);
      mock.timers.tick(100);
    }
    mock.timers.tick(ttlMs / 4 - 100 * 100 - 1);
    assert.deepEqual(touched, []);
    for (let index = 0; index < 100; index += 1) {
      mock.timers.tick(index === 0 ? 1 : 100);
      assert.deepEqual(touched, [`call-${index}`]);
      touched.length = 0;
    }
  });

  it("touches within a time to live that is short", () => {
    live.close();
    const ledger = { touch: (id: string) => touched.push(id) };
    live = new ReservationHeartbeat(ledger, 20);
    live.add("a");
    mock.timers.tick(5);
    live.add("b");
    mock.timers.tick(15);
    assert.equal(touched.filter((id) => id === "a").length, 4);
    assert.equal(touched.filter((id) => id === "b").length, 3);
  });

  it("forgets what has ended, and what was never there", () => {
    live.add("a");
    live.add("b");
    live.delete("a");
    live.delete("never");
    assert.equal(live.size, 1);
    mock.timers.tick(ttlMs / 4);
    assert.deepEqual(touched, ["b"]);
  });

  it("counts a reservation once, however often it is added", () => {
    live.add("a");
    live.add("a");
    assert.equal(live.size, 1);
    mock.timers.tick(ttlMs / 4);
    assert.deepEqual(touched, ["a"]);
    live.delete("a");
    assert.equal(live.size, 0);
  });

  it("touches nothing after it was closed", () => {
    live.add("a");
    live.close();
    mock.timers.tick(ttlMs);
    assert.deepEqual(touched, []);
  });
});
