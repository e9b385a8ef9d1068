import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "mocha";
import { startFuzzing } from "#test/support/fuzz/start-fuzzing";

describe("startFuzzing", () => {
  let folder = "";
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "tollgate-start-fuzzing-"));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  function start(program: string, hangMs = 30_000) {
    const file = join(folder, "program.mjs");
    writeFileSync(file, program);
    const { signal } = new AbortController();
    return startFuzzing("some reader", { seed: 5, durationMs: 1, folder, signal, program: file, hangMs });
  }
  const writesCase = 'import { writeFileSync } from "node:fs"; writeFileSync(process.argv[5], "42");';

  it("gives the outcome that the process prints", async () => {
    const outcome = { reader: "some reader", cases: 1, slowestMs: 0, failures: [] };
    assert.deepEqual(await start(`console.log(${JSON.stringify(JSON.stringify(outcome))})`), outcome);
  });

  it("ends a case that does not end, and says how to run it again", async () => {
    await assert.rejects(
      start(`${writesCase} for (;;);`, 1_000),
      /a case did not end\nagain: node .*"some reader" 5 0 \S+ 42$/,
    );
  });

  it("tells what a process said that ended in a crash", async () => {
    await assert.rejects(start(`${writesCase} throw new Error("planted")`), /ended with 1: [\s\S]*planted[\s\S]* 42$/);
  });
});
