import assert from "node:assert/strict";
import { residentSlope } from "../../../support/soak/samples.ts";

function samplesOf(bytesAt: (seconds: number) => number, count = 600): Parameters<typeof residentSlope>[0] {
  return Array.from({ length: count }, (_, atSeconds) => ({
    atSeconds,
    residentBytes: bytesAt(atSeconds),
    files: 0,
    threads: 0,
  }));
}

describe("residentSlope()", () => {
  for (const row of [
    { name: "is 0 without samples", samples: samplesOf(() => 1, 0), want: 0 },
    { name: "is 0 for one sample", samples: samplesOf(() => 1, 1), want: 0 },
    { name: "is 0 for what stays", samples: samplesOf(() => 1e8), want: 0 },
    { name: "is the rate of a steady leak", samples: samplesOf((seconds) => 1e8 + 500 * seconds), want: 500 },
    { name: "is negative for what shrinks", samples: samplesOf((seconds) => 1e8 - 500 * seconds), want: -500 },
    {
      name: "does not see the teeth of the garbage collector",
      samples: samplesOf((seconds) => 1e8 + (seconds % 10) * 1e6),
      want: 0,
    },
    {
      name: "sees a leak below the teeth",
      samples: samplesOf((seconds) => 1e8 + (seconds % 10) * 1e6 + 2_000 * Math.floor(seconds / 10) * 10),
      want: 2_000,
    },
  ]) {
    it(row.name, () => assert.ok(Math.abs(residentSlope(row.samples) - row.want) <= 1 + Math.abs(row.want) * 0.01));
  }
});
