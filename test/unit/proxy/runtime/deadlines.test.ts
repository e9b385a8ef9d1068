import assert from "node:assert/strict";
import { armDeadline } from "#proxy/runtime/deadlines";
import { waitFor } from "#test/support/wait-for";

describe("armDeadline", () => {
  /** Keeps the process alive while a test waits: deadlines alone do not. */
  let alive: NodeJS.Timeout;
  beforeEach(() => {
    alive = setInterval(() => undefined, 1_000);
  });
  afterEach(() => clearInterval(alive));

  it("expires once, never early", async () => {
    const startedMs = performance.now();
    const expired: number[] = [];
    armDeadline(20, () => expired.push(performance.now() - startedMs));
    await waitFor("the deadline", () => expired.length > 0);
    const [tookMs = 0] = expired;
    assert.ok(tookMs >= 20, `${tookMs} ms`);
    armDeadline(20, () => expired.push(0));
    await waitFor("another one", () => expired.length > 1);
    assert.equal(expired.length, 2);
  });

  it("never expires once it is cancelled, and may be cancelled at any time", async () => {
    const heard: string[] = [];
    const first = armDeadline(15, () => heard.push("first"));
    const second = armDeadline(15, () => heard.push("second"));
    const third = armDeadline(15, () => heard.push("third"));
    second.cancel();
    second.cancel();
    await waitFor("the others", () => heard.length === 2);
    assert.deepEqual(heard, ["first", "third"]);
    first.cancel();
    third.cancel();
  });

  it("keeps the order of deadlines of which only a part is left", async () => {
    const heard: string[] = [];
    armDeadline(60, () => heard.push("whole"));
    armDeadline(60, () => heard.push("half"), 30);
    armDeadline(60, () => heard.push("bit"), 5);
    await waitFor("all", () => heard.length === 3);
    assert.deepEqual(heard, ["bit", "half", "whole"]);
  });

  it("expires in time where the timer still runs for a longer one that was cancelled", async () => {
    armDeadline(45_000, () => undefined).cancel();
    let isExpired = false;
    armDeadline(
      45_000,
      () => {
        isExpired = true;
      },
      20,
    );
    await waitFor("the rest of it", () => isExpired);
  });

  it("may be armed anew, or cancel its neighbours, when it expires", async () => {
    const heard: string[] = [];
    armDeadline(10, () => {
      heard.push("first");
      neighbour.cancel();
      armDeadline(10, () => heard.push("again"));
    });
    const neighbour = armDeadline(10, () => heard.push("neighbour"));
    armDeadline(10, () => heard.push("last"));
    await waitFor("all", () => heard.length === 3);
    assert.deepEqual(heard, ["first", "last", "again"]);
  });

  it("waits beyond the longest timer of Node instead of expiring at once", async () => {
    let isExpired = false;
    const far = armDeadline(2 ** 40, () => {
      isExpired = true;
    });
    let isLater = false;
    armDeadline(10, () => {
      isLater = true;
    });
    await waitFor("a short one", () => isLater);
    assert.equal(isExpired, false);
    far.cancel();
  });

  it("keeps few timers where every wait has a length of its own", () => {
    const running = new Set<NodeJS.Timeout>();
    const { setTimeout: set, clearTimeout: clear } = globalThis;
    const counting = (callback: () => void, ms: number): NodeJS.Timeout => {
      const timer = set(callback, ms);
      running.add(timer);
      return timer;
    };
    Object.assign(globalThis, {
      setTimeout: counting,
      clearTimeout: (timer: NodeJS.Timeout) => {
        running.delete(timer);
        clear(timer);
      },
    });
    try {
      for (let index = 0; index < 5_000; index += 1) armDeadline(3_600_000 + index, () => undefined).cancel();
    } finally {
      Object.assign(globalThis, { setTimeout: set, clearTimeout: clear });
    }
    assert.ok(running.size <= 1_000, `${running.size} timers`);
  });

  it("arms a wait of a new length in a time that does not grow with those that are armed", () => {
    const startedMs = performance.now();
    const armed = Array.from({ length: 30_000 }, (_, index) => armDeadline(7_200_000 + index, () => undefined));
    const tookMs = performance.now() - startedMs;
    for (const deadline of armed) deadline.cancel();
    // Microseconds for each; one that looks at all the others takes most of a millisecond.
    assert.ok(tookMs < 2_000, `${tookMs} ms`);
  });
});
