/** Mocha's spec reporter, reduced to what failed and was skipped, which also writes its counts to a file. */
import { writeFileSync } from "node:fs";
import mocha from "mocha";

const { Base } = mocha.reporters;
const { EVENT_RUN_END, EVENT_SUITE_BEGIN, EVENT_SUITE_END, EVENT_TEST_FAIL, EVENT_TEST_PASS, EVENT_TEST_PENDING } =
  mocha.Runner.constants;

export default class CountReporter extends Base {
  constructor(runner, options) {
    super(runner, options);
    let top = "";
    let passedInTop = 0;
    const startedMs = Date.now();
    runner.on(EVENT_SUITE_BEGIN, (suite) => {
      if (suite.parent?.root === true) {
        top = suite.title;
        passedInTop = 0;
      }
    });
    runner.on(EVENT_TEST_PASS, () => {
      passedInTop += 1;
    });
    runner.on(EVENT_TEST_PENDING, (test) => console.log(`  SKIPPED ${test.fullTitle()}`));
    runner.on(EVENT_TEST_FAIL, (test) => console.log(`  FAILED  ${test.fullTitle()}`));
    runner.on(EVENT_SUITE_END, (suite) => {
      if (suite.parent?.root === true) console.log(`  ${String(passedInTop).padStart(5)} passed  ${top}`);
    });
    runner.on(EVENT_RUN_END, () => {
      Base.list(this.failures);
      const { passes, failures, pending } = this.stats;
      console.log(`  ${passes} passed, ${failures} failed, ${pending} skipped in ${Date.now() - startedMs} ms`);
      writeFileSync(
        options.reporterOptions.file,
        JSON.stringify({ passed: passes, failed: failures, skipped: pending }),
      );
    });
  }
}
