/** Figures of docs/design/operations.md 5 for 100,000 keys, with bounds that a busy machine keeps. */
import assert from "node:assert/strict";
import { PushBench } from "#test/support/push-bench";
import type { Figure } from "./figure.ts";
import { measurePush } from "./push.ts";

describe("push of 100,000 keys", function () {
  this.timeout(60_000);
  let bench: PushBench;
  beforeEach(async () => {
    bench = await PushBench.open();
  });
  afterEach(() => bench.close());

  it("keeps to its bounds of memory, time and bytes", async () => {
    const figures = await measurePush(bench, 100_000);
    for (const { name, value, limit, unit } of figures) {
      const verdict = value <= limit ? "ok" : "MISSED";
      process.stdout.write(`    ${name}: ${value.toFixed(2)} ${unit} (limit ${limit}) ${verdict}\n`);
    }
    // The targets are for a machine of one's own: of times only three times as much is a failure here.
    const isFailure = ({ value, limit, unit }: Figure) => !(value <= limit * (unit === "ms" ? 3 : 1));
    assert.deepEqual(
      figures.filter(isFailure).map(({ name }) => name),
      [],
    );
  });
});
