import assert from "node:assert/strict";
import { LargeBodyQueue } from "#proxy/dispatch/large-body-queue";
import { InFlightBytes } from "#proxy/http/in-flight-bytes";

const MiB = 1024 * 1024;

describe("LargeBodyQueue", () => {
  it("works on one after the other, and counts the text of the one", async () => {
    const inFlight = new InFlightBytes(5 * MiB);
    const bodies = new LargeBodyQueue(inFlight);
    const log: string[] = [];
    const first = Promise.withResolvers<void>();
    const working = ["one", "two"].map((name) =>
      bodies.inTurn(2 * MiB, async () => {
        log.push(name);
        assert.equal(inFlight.bytes, 4 * MiB);
        await first.promise;
        return name;
      }),
    );
    await new Promise(setImmediate);
    assert.deepEqual(log, ["one"]);
    first.resolve();
    assert.deepEqual(await Promise.all(working), ["one", "two"]);
    assert.equal(inFlight.bytes, 0);
  });

  it("refuses what has no room, gives back after a failure, and goes on", async () => {
    const inFlight = new InFlightBytes(5 * MiB);
    const bodies = new LargeBodyQueue(inFlight);
    const none = () => Promise.resolve("none");
    await assert.rejects(bodies.inTurn(3 * MiB, none), { code: "overloaded" });
    await assert.rejects(
      bodies.inTurn(MiB, () => {
        throw new Error("at once");
      }),
      /at once/,
    );
    assert.equal(await bodies.inTurn(MiB, none), "none");
    assert.equal(inFlight.bytes, 0);
  });
});
