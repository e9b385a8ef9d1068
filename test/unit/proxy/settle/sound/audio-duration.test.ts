import assert from "node:assert/strict";
import { audioMillisecondsOf } from "#proxy/settle/sound/audio-duration";

describe("audioMillisecondsOf()", () => {
  for (const { seconds, want } of [
    { seconds: 0, want: 0 },
    { seconds: 8.47, want: 8_470 },
    { seconds: 0.0001, want: 1 },
    { seconds: 1.0004, want: 1_001 },
    { seconds: 1e300, want: 86_400_000 },
    { seconds: Number.POSITIVE_INFINITY, want: 86_400_000 },
    { seconds: -1, want: undefined },
    { seconds: Number.NaN, want: undefined },
    { seconds: "8", want: undefined },
    { seconds: null, want: undefined },
  ]) {
    it(`reads ${JSON.stringify(seconds)} of type ${typeof seconds} as ${want} ms`, () => {
      assert.equal(audioMillisecondsOf(seconds), want);
    });
  }

  it("never makes -0 of nothing", () => assert.ok(Object.is(audioMillisecondsOf(0), 0)));
});
