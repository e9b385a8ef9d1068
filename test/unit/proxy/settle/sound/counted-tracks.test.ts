import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { CountedTracks } from "#proxy/settle/sound/counted-tracks";

describe("tracks of a file", () => {
  it("are as long as the longest of those that can be counted", () => {
    const tracks = new CountedTracks();
    assert.equal(tracks.seconds, 0);
    tracks.add(1, 48_000);
    tracks.add(2, 24_000);
    for (const [number, samples] of [
      [1, 48_000],
      [2, 72_000],
      [1, 48_000],
      [3, 9_999_999],
    ] as const) {
      tracks.count(number, samples);
    }
    assert.deepEqual([tracks.seconds, tracks.has(2), tracks.has(3)], [3, true, false]);
  });

  it("are not made shorter by one that says the same number again, nor by many", () => {
    const tracks = new CountedTracks();
    tracks.add(1, 8_000);
    tracks.add(1, 96_000);
    tracks.count(1, 80_000);
    assert.equal(tracks.seconds, 10);
    for (let number = 2; number < 100_000; number += 1) tracks.add(number, 8_000);
    tracks.count(99_999, 160_000);
    assert.equal(tracks.seconds, 20);
  });
});
