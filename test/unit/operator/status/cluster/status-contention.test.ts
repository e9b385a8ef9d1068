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
const standing = (document: StatusDocument | undefined, changes: Partial<ObservedStatus> = {}): ObservedStatus => ({
  uid: "uid",
  resourceVersion: "1",
  generation: 1,
  document,
  ...changes,
});
const ours = saying("Funded");
const theirs = standing(saying("Unlimited"));

describe("StatusContention", () => {
  let rivals: StatusContention;
  let nowMs: number;
  beforeEach(() => {
    rivals = new StatusContention(1_000, 60_000);
    nowMs = 1_000_000;
  });

  it("waits twice as long after each write that was undone, up to a minute, and does not forget meanwhile", () => {
    const waits: number[] = [];
    for (let count = 0; count < 9; count += 1) {
      rivals.wrote(id, theirs, ours, nowMs);
      const waitMs = rivals.waitMs(id, theirs, nowMs);
      waits.push(waitMs / 1_000);
      nowMs += waitMs;
      assert.equal(rivals.waitMs(id, theirs, nowMs), 0, "the time is over");
    }
    assert.deepEqual(waits, [1, 2, 4, 8, 16, 32, 60, 60, 60]);
    assert.equal(rivals.timesUndone(id, theirs, nowMs), 9);
  });

  it("waits for no more than is left, in one of the waits that there are", () => {
    for (let count = 0; count < 4; count += 1) rivals.wrote(id, theirs, ours, nowMs);
    assert.equal(rivals.waitMs(id, theirs, nowMs + 7_500), 1_000);
    assert.equal(rivals.waitMs(id, theirs, nowMs + 5_500), 4_000);
    assert.ok(rivals.delaysMs.includes(4_000));
  });

  for (const row of [
    { name: "nobody has written it", stands: theirs, isWritten: false },
    { name: "it stands as it was written", stands: standing(saying("Funded")) },
    { name: "the spec is another", stands: { ...theirs, generation: 2 } },
    { name: "it is another object of the name", stands: { ...theirs, uid: "next" } },
    { name: "it was long ago", stands: theirs, laterMs: 120_001 },
  ]) {
    it(`does not wait where ${row.name}`, () => {
      if (row.isWritten ?? true) rivals.wrote(id, theirs, ours, nowMs);
      assert.equal(rivals.waitMs(id, row.stands, nowMs + (row.laterMs ?? 0)), 0);
    });
  }

  it("takes a status that was removed for undone", () => {
    rivals.wrote(id, theirs, ours, nowMs);
    assert.equal(rivals.timesUndone(id, standing(undefined), nowMs), 1);
  });

  it("trusts again, step by step, when writes stand", () => {
    for (let count = 0; count < 4; count += 1) rivals.wrote(id, theirs, ours, nowMs);
    for (let count = 0; count < 3; count += 1) rivals.wrote(id, standing(ours), ours, nowMs);
    assert.equal(rivals.timesUndone(id, standing(ours), nowMs), 0);
    assert.equal(rivals.waitMs(id, theirs, nowMs), 1_000);
  });
});
