/**
 * The readers of translation, each on mutated goldens and recorded traffic for a minute (`TOLLGATE_FUZZ_SECONDS`): only
 * refusals may be thrown, nothing hangs, no step holds the event loop over 50 ms (twice that fails, all is told), nothing
 * that failed looks whole.
 *
 * Two processes at a time; their minutes are of CPU time, so that they may run beside other suites (`scripts/tasks/ci.ts`). `TOLLGATE_FUZZ_SEED` repeats a run; what a failure prints repeats one case alone.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "mocha";
import { explainAbsence, readRecorded } from "#test/support/digest/recorded";
import { type FuzzOutcome, stepLimitMs } from "#test/support/fuzz/fuzz-reader";
import { readerNames } from "#test/support/fuzz/readers";
import { repeatCommand, startFuzzing } from "#test/support/fuzz/start-fuzzing";

const seconds = Number(process.env["TOLLGATE_FUZZ_SECONDS"] ?? 60);
const seed = Number(process.env["TOLLGATE_FUZZ_SEED"] ?? Date.now() % 1_000_000_000);
const lanes = 2;
/** Beside other suites, which go first, a minute of CPU time may take this many of the clock. */
const besideFactor = 5;
/** Start and end of a process, and making what failed small. */
const spareMs = 60_000;

describe(`readers of translation under a fuzzer, seed ${seed}`, () => {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-fuzz-"));
  const outcomes = new Map<string, PromiseWithResolvers<FuzzOutcome>>(
    readerNames.map((name) => [name, Promise.withResolvers()]),
  );
  const controller = new AbortController();

  before(() => {
    console.log(`  seed ${seed}: TOLLGATE_FUZZ_SEED=${seed} repeats this run`);
    const waiting = [...outcomes];
    const runLane = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const [name, { promise, resolve, reject }] = next;
        // Seen by the test of this reader, which may begin later.
        promise.catch(() => {});
        const options = { seed, durationMs: seconds * 1_000, folder, signal: controller.signal };
        await startFuzzing(name, options).then(resolve, reject);
      }
    };
    for (let lane = 0; lane < lanes; lane += 1) void runLane();
  });

  after(() => {
    controller.abort();
    rmSync(folder, { recursive: true, force: true });
  });

  for (const name of readerNames) {
    it(`${name}: ${seconds} seconds without a crash, a hang or a step over ${stepLimitMs} ms`, async function () {
      this.timeout(Math.ceil(readerNames.length / lanes) * (besideFactor * seconds * 1_000 + spareMs));
      const outcome = await outcomes.get(name)?.promise;
      assert.ok(outcome !== undefined);
      console.log(`    ${name}: ${outcome.cases} cases, slowest step ${outcome.slowestMs.toFixed(1)} ms (50)`);
      const told = outcome.failures.map(
        (failure) => `${failure.problem}\ninput: ${failure.input}\nagain: ${repeatCommand(name, seed, failure.case)}\n`,
      );
      assert.equal(told.join("\n"), "");
      assert.ok(outcome.cases > 0);
    });
  }

  if (readRecorded() === undefined) it(explainAbsence("recorded traffic under the fuzzer"));
});
