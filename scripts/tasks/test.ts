/** `npm test`: types, then every test that needs no cluster; ends with the line `N passed, N failed`. */
import { pass, types } from "#scripts/gates";
import { runSuites } from "#scripts/suites";

const areTypesGood = await pass(types);
const { passed, failed } = await runSuites(["unit", "golden", "conformance"], process.argv.slice(2));
const failures = failed + (areTypesGood ? 0 : 1);
console.log(`\n${passed + (areTypesGood ? 1 : 0)} passed, ${failures} failed`);
process.exit(failures === 0 && passed > 0 ? 0 : 1);
