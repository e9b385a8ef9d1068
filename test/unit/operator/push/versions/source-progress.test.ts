import assert from "node:assert/strict";
import { Publisher } from "#operator/push/publisher";
import { SourceProgress } from "#operator/push/versions/source-progress";
import { ManualTimers } from "#test/support/manual-timers";
import { byId } from "#test/support/push-rig";
import { wireKey } from "#test/support/wire-objects";

describe("SourceProgress", () => {
  let timers: ManualTimers;
  let publisher: Publisher;
  let complete: Record<string, string>;
  let progress: SourceProgress;
  let nudges: number;

  beforeEach(() => {
    timers = new ManualTimers();
    publisher = new Publisher({ timers });
    complete = { ApiKey: "10" };
    nudges = 0;
    progress = new SourceProgress(
      () => ({ seen: complete, complete }),
      () => {
        nudges += 1;
      },
    );
  });

  function pass(...names: string[]): void {
    const onPublished = progress.beginPass();
    publisher.publishChanges({ upserts: byId(...names.map((name) => wireKey(name))), removes: [], onPublished });
  }

  it("counts a pass only once what it found is published", () => {
    pass("one");
    assert.deepEqual(progress.complete, { ApiKey: "10" });
    complete = { ApiKey: "11" };
    pass("two");
    assert.deepEqual(progress.complete, { ApiKey: "10" }, "the change waits for others to join it");
    // A pass that finds nothing must not vouch for the one before.
    complete = { ApiKey: "12" };
    pass("two");
    assert.deepEqual(progress.complete, { ApiKey: "10" });
    timers.advance(100);
    assert.deepEqual(progress.complete, { ApiKey: "12" });
    complete = { ApiKey: "13" };
    pass();
    assert.deepEqual(progress.complete, { ApiKey: "13" }, "nothing was waiting");
  });

  it("takes the versions from before the pass, as what comes meanwhile may be missed", () => {
    const onPublished = progress.beginPass();
    complete = { ApiKey: "99" };
    onPublished();
    assert.deepEqual(progress.complete, { ApiKey: "10" });
  });

  for (const row of [
    { name: "an older version", claimed: { ApiKey: "9" }, want: false },
    { name: "the same version", claimed: { ApiKey: "10" }, want: false },
    { name: "a newer version", claimed: { ApiKey: "11" }, want: true },
    { name: "a version of more digits", claimed: { ApiKey: "100" }, want: true },
    { name: "a version of fewer digits that begins higher", claimed: { ApiKey: "9" }, want: false },
    { name: "a watch that is not ours", claimed: { "ApiKey/team-a": "500" }, want: false },
    { name: "nothing", claimed: {}, want: false },
  ]) {
    it(`is ${row.want ? "" : "not "}behind a proxy that claims ${row.name}`, () => {
      pass("one");
      assert.equal(progress.isBehind(row.claimed), row.want);
    });
  }

  it("catches up when a pass brings what was claimed, and asks for passes meanwhile", async () => {
    pass("one");
    const caughtUp = progress.catchUp({ ApiKey: "12" }, 1_000, timers, new AbortController().signal);
    timers.advance(350);
    assert.equal(nudges, 4);
    complete = { ApiKey: "12" };
    pass();
    assert.equal(await caughtUp, true);
    assert.equal(timers.waiting, 0);
  });

  it("gives up after its time, and when the proxy is gone", async () => {
    pass("one");
    const late = progress.catchUp({ ApiKey: "12" }, 1_000, timers, new AbortController().signal);
    timers.advance(1_000);
    assert.equal(await late, false);
    const gone = new AbortController();
    const left = progress.catchUp({ ApiKey: "12" }, 1_000, timers, gone.signal);
    gone.abort();
    assert.equal(await left, false);
    assert.equal(timers.waiting, 0);
  });
});
