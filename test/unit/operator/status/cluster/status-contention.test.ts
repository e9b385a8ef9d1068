import assert from "node:assert/strict";
import type { ObservedStatus } from "#operator/status/cluster/observed-statuses";
import { StatusContention } from "#operator/status/cluster/status-contention";
import type { StatusDocument } from "#operator/status/status-document";

const id = "account/a/one";
const saying = (reason: string): StatusDocument => ({
  apiVersion: "tollgate.dev/v1alpha1",
  kind: "Account",
  metadata: { namespace: "a", name: "one" },
  status: {
    observedGeneration: 1,
    conditions: [{ type: "Funded", status: "True", reason, message: "", lastTransitionTime: "2026-11-21T12:00:00Z" }],
  },
});
const observedStatus = (
  document: StatusDocument | undefined,
  changes: Partial<ObservedStatus> = {},
): ObservedStatus => ({
  uid: "uid",
  resourceVersion: "1",
  generation: 1,
  document,
  ...changes,
});
const ours = saying("Funded");
const theirs = observedStatus(saying("Unlimited"));

describe("StatusContention", () => {
  let contention: StatusContention;
  let nowMs: number;
  beforeEach(() => {
    contention = new StatusContention(1_000, 60_000);
    nowMs = 1_000_000;
  });

  it("waits twice as long after each write that was undone, up to a minute, and does not forget meanwhile", () => {
    const waits: number[] = [];
    for (let count = 0; count < 9; count += 1) {
      contention.noteWrite(id, theirs, ours, nowMs);
      const waitMs = contention.waitMs(id, theirs, nowMs);
      waits.push(waitMs / 1_000);
      nowMs += waitMs;
      assert.equal(contention.waitMs(id, theirs, nowMs), 0, "the time is over");
    }
    assert.deepEqual(waits, [1, 2, 4, 8, 16, 32, 60, 60, 60]);
    assert.equal(contention.timesUndone(id, theirs, nowMs), 9);
  });

  it("waits for no more than is left, in one of the waits that there are", () => {
    for (let count = 0; count < 4; count += 1) contention.noteWrite(id, theirs, ours, nowMs);
    assert.equal(contention.waitMs(id, theirs, nowMs + 7_500), 1_000);
    assert.equal(contention.waitMs(id, theirs, nowMs + 5_500), 4_000);
    assert.ok(contention.delaysMs.includes(4_000));
  });

  for (const row of [
    { name: "nobody has written it", observed: theirs, isWritten: false },
    { name: "it stands as it was written", observed: observedStatus(saying("Funded")) },
    { name: "the spec is another", observed: { ...theirs, generation: 2 } },
    { name: "it is another object of the name", observed: { ...theirs, uid: "next" } },
    { name: "it was long ago", observed: theirs, laterMs: 120_001 },
  ]) {
    it(`does not wait where ${row.name}`, () => {
      if (row.isWritten ?? true) contention.noteWrite(id, theirs, ours, nowMs);
      assert.equal(contention.waitMs(id, row.observed, nowMs + (row.laterMs ?? 0)), 0);
    });
  }

  it("takes a status that was removed for undone", () => {
    contention.noteWrite(id, theirs, ours, nowMs);
    assert.equal(contention.timesUndone(id, observedStatus(undefined), nowMs), 1);
  });

  it("trusts again, step by step, when writes stand", () => {
    for (let count = 0; count < 4; count += 1) contention.noteWrite(id, theirs, ours, nowMs);
    for (let count = 0; count < 3; count += 1) contention.noteWrite(id, observedStatus(ours), ours, nowMs);
    assert.equal(contention.timesUndone(id, observedStatus(ours), nowMs), 0);
    assert.equal(contention.waitMs(id, theirs, nowMs), 1_000);
  });
});
