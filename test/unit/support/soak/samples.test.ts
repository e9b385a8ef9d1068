import assert from "node:assert/strict";
import { slope } from "#test/support/soak/samples";

function pointsOf(valueAt: (seconds: number) => number, count = 600): { atSeconds: number; value: number }[] {
  return Array.from({ length: count }, (_, atSeconds) => ({ atSeconds, value: valueAt(atSeconds) }));
}

describe("slope()", () => {
  for (const row of [
    { name: "is nothing for what stays", points: pointsOf(() => 5_000), want: 0 },
    { name: "is what grows in a second", points: pointsOf((seconds) => 7 * seconds), want: 7 },
    { name: "is less than nothing for what shrinks", points: pointsOf((seconds) => -3 * seconds), want: -3 },
    { name: "is told through noise", points: pointsOf((seconds) => 4 * seconds + 50 * (seconds % 2)), want: 4 },
    { name: "is nothing where there is one point", points: pointsOf(() => 5, 1), want: 0 },
    { name: "is nothing where there is none", points: [], want: 0 },
  ]) {
    it(row.name, () => assert.ok(Math.abs(slope(row.points, ({ value }) => value) - row.want) <= 0.01));
  }
});
