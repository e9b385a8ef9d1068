import assert from "node:assert/strict";
import { Backoff } from "#operator/kubernetes/watch/backoff";

describe("backoff", () => {
  it("doubles from the least to the most, and begins anew when it works again", () => {
    const backoff = new Backoff(500, 30_000, () => 1);
    assert.deepEqual(
      Array.from({ length: 8 }, () => backoff.next()),
      [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000],
    );
    backoff.reset();
    assert.equal(backoff.next(), 500);
  });

  it("is random between half and whole", () => {
    assert.equal(new Backoff(500, 30_000, () => 0).next(), 250);
  });

  it("waits no longer than is given for one failure, and doubles all the same", () => {
    const backoff = new Backoff(500, 30_000, () => 1);
    assert.deepEqual(
      Array.from({ length: 4 }, () => backoff.next(0, 1_500)),
      [500, 1_000, 1_500, 1_500],
    );
    assert.equal(backoff.next(), 8_000);
  });

  it("waits at least as long as the server asks", () => {
    assert.equal(new Backoff(500, 30_000, () => 1).next(7_000), 7_000);
  });
});
