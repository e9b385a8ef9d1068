import assert from "node:assert/strict";
import { setImmediate as joinBatch } from "node:timers/promises";
import { checkLoop } from "#operator/certificates/check-loop";
import { ManualTimers } from "#test/support/manual-timers";

describe("checkLoop()", () => {
  let timers: ManualTimers;
  let looks: number[];
  let isFailing: boolean;
  let failures: number;

  beforeEach(() => {
    timers = new ManualTimers();
    looks = [];
    isFailing = false;
    failures = 0;
  });

  const loop = () =>
    checkLoop({
      everyMs: 60_000,
      timers,
      async check() {
        looks.push(timers.now());
        if (isFailing) throw new Error("away");
      },
      onFailure() {
        failures += 1;
      },
    });
  async function advance(byMs: number): Promise<void> {
    await joinBatch();
    for (let passed = 0; passed < byMs; passed += 250) {
      timers.advance(250);
      await joinBatch();
    }
  }

  it("looks at once and then regularly", async () => {
    const running = loop();
    await running.start();
    await advance(120_000);
    assert.deepEqual(looks, [0, 60_000, 120_000]);
    running.close();
    assert.equal(timers.waiting, 0);
  });

  it("looks again sooner after a failure, with growing pauses, and starts once it has succeeded", async () => {
    isFailing = true;
    const running = loop();
    let isStarted = false;
    void running.start().then(() => {
      isStarted = true;
    });
    await advance(8_000);
    assert.deepEqual(looks, [0, 500, 1_500, 3_500, 7_500]);
    assert.equal(failures, 5);
    assert.equal(isStarted, false);
    isFailing = false;
    await advance(8_000);
    assert.equal(isStarted, true);
    assert.deepEqual(looks.at(-1), 15_500);
    await advance(60_000);
    assert.deepEqual(looks.at(-1), 75_500);
    running.close();
  });

  it("lets whoever waits for its start go on when it is closed", async () => {
    isFailing = true;
    const running = loop();
    const started = running.start();
    await joinBatch();
    running.close();
    await started;
    assert.equal(timers.waiting, 0);
  });
});
