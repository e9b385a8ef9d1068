/**
 * `npm run check`: format, lint, types, generated files unchanged, unit tests (import boundaries among them) and
 * goldens. The two minutes' gate before a commit; nothing merges without it.
 */
import { formatAndLint, generatedFiles, pass, types } from "../gates.ts";
import { runSuites } from "../suites.ts";

const failedGates = [formatAndLint, types, generatedFiles].filter((gate) => !pass(gate));
const { passed, failed } = await runSuites(["unit", "golden"]);
console.log(`\n${3 - failedGates.length + passed} passed, ${failedGates.length + failed} failed`);
process.exit(failedGates.length + failed === 0 ? 0 : 1);
