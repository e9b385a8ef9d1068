/** `npm run test:SUITE`: one slower suite; ends with the line `N passed, N failed`. */
import { runSuites } from "#scripts/suites";

const [suite, ...mochaArguments] = process.argv.slice(2);
if (suite === undefined) {
  console.error("suite: say which: conformance, security, resilience, integration, clients, chart, e2e or fuzz");
  process.exit(2);
}
const { passed, failed } = await runSuites([suite], mochaArguments);
console.log(`\n${passed} passed, ${failed} failed`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);
