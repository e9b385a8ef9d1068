import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { soakTable } from "#scripts/soak-tables";

describe("soakTable()", () => {
  const tests = [
    { title: "bears a|b", tookMs: 600_000, isPassed: true, figures: ["0 failed, limit 0", "p99 12 ms, limit 20"] },
    { title: "forgets nothing", tookMs: 1_234, isPassed: false, figures: [] },
  ];
  const run = { suite: "resilience/fleet", tests, lengths: { TOLLGATE_ABSENCE_MS: "600000" }, isPart: false };
  const text = soakTable(run, "");

  it("has a row for each case, with what it measured", () => {
    assert.deepEqual(text.split("\n").slice(4), [
      "| Case | Took | Verdict | Measured |",
      "| --- | --- | --- | --- |",
      "| bears a\\|b | 10.0 min | ok | 0 failed, limit 0<br>p99 12 ms, limit 20 |",
      "| forgets nothing | 1.2 s | FAILED |  |",
      "",
    ]);
  });

  it("puts cases that ran again into the place of their own rows", () => {
    const again = [{ title: "forgets nothing", tookMs: 2_000, isPassed: true, figures: ["0 lost"] }];
    const rows = (table: string): string[] => table.split("\n").slice(6);
    assert.deepEqual(rows(soakTable({ ...run, tests: again, isPart: true }, text)), [
      "| bears a\\|b | 10.0 min | ok | 0 failed, limit 0<br>p99 12 ms, limit 20 |",
      "| forgets nothing | 2.0 s | ok | 0 lost |",
      "",
    ]);
    assert.deepEqual(rows(soakTable({ ...run, tests: again }, text)), [
      "| forgets nothing | 2.0 s | ok | 0 lost |",
      "",
    ]);
  });

  it("says how to repeat it, and how long the cases were", () => {
    assert.match(text, /`npm run soak -- resilience\/fleet`/);
    assert.match(text, /`TOLLGATE_ABSENCE_MS=600000`/);
  });
});
