/** Mocha's spec reporter, reduced to what failed and was skipped; writes its counts, and what tests showed, to a file. */
import { writeFileSync } from "node:fs";
import mocha from "mocha";
import { takeShownFigures } from "../test/support/shown-figures.ts";

const { Base } = mocha.reporters;
const { EVENT_RUN_END, EVENT_SUITE_BEGIN, EVENT_SUITE_END, EVENT_TEST_FAIL, EVENT_TEST_PASS, EVENT_TEST_PENDING } =
  mocha.Runner.constants;

export default class CountReporter extends Base {
  constructor(runner, options) {
    super(runner, options);
    let top = "";
    let passedInTop = 0;
    const startedMs = Date.now();
    const tests = [];
    const ended = (test, isPassed) =>
      tests.push({ title: test.fullTitle(), tookMs: test.duration ?? 0, isPassed, figures: takeShownFigures() });
    runner.on(EVENT_SUITE_BEGIN, (suite) => {
      if (suite.parent?.root === true) {
        top = suite.title;
        passedInTop = 0;
      }
    });
    runner.on(EVENT_TEST_PASS, (test) => {
      passedInTop += 1;
      ended(test, true);
    });
    runner.on(EVENT_TEST_PENDING, (test) => console.log(`  SKIPPED ${test.fullTitle()}`));
    runner.on(EVENT_TEST_FAIL, (test) => {
      console.log(`  FAILED  ${test.fullTitle()}`);
      ended(test, false);
    });
    runner.on(EVENT_SUITE_END, (suite) => {
      if (suite.parent?.root === true) console.log(`  ${String(passedInTop).padStart(5)} passed  ${top}`);
    });
    runner.on(EVENT_RUN_END, () => {
      Base.list(this.failures);
      const { passes, failures, pending } = this.stats;
      console.log(`  ${passes} passed, ${failures} failed, ${pending} skipped in ${Date.now() - startedMs} ms`);
      writeFileSync(
        options.reporterOptions.file,
        JSON.stringify({ passed: passes, failed: failures, skipped: pending, tests }),
      );
    });
  }
}
