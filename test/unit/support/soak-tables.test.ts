import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { soakTable } from "../../../scripts/soak-tables.ts";

describe("soakTable()", () => {
  const tests = [
    { title: "bears a|b", tookMs: 600_000, isPassed: true, figures: ["0 failed, limit 0", "p99 12 ms, limit 20"] },
    { title: "forgets nothing", tookMs: 1_234, isPassed: false, figures: [] },
  ];
  const text = soakTable("resilience/fleet", tests, { TOLLGATE_ABSENCE_MS: "600000" });

  it("has a row for each case, with what it measured", () => {
    assert.deepEqual(text.split("\n").slice(4), [
      "| Case | Took | Verdict | Measured |",
      "| --- | --- | --- | --- |",
      "| bears a\\|b | 10.0 min | ok | 0 failed, limit 0<br>p99 12 ms, limit 20 |",
      "| forgets nothing | 1.2 s | FAILED |  |",
      "",
    ]);
  });

  it("says how to repeat it, and how long the cases were", () => {
    assert.match(text, /`npm run soak -- resilience\/fleet`/);
    assert.match(text, /`TOLLGATE_ABSENCE_MS=600000`/);
  });
});
