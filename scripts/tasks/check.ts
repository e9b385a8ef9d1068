/**
 * `npm run check`: format, lint, types, generated files unchanged, unit tests (import boundaries among them) and
 * goldens (those of the chart where helm is found). The two minutes' gate before a commit; nothing merges without it.
 */
import { countFailed, formatAndLint, generatedFiles, types } from "#scripts/gates";
import { runSuites } from "#scripts/suites";

const gates = [formatAndLint, types, generatedFiles];
const failedGates = await countFailed(gates);
const { passed, failed } = await runSuites(["unit", "golden", "chart/golden"]);
console.log(`\n${gates.length - failedGates + passed} passed, ${failedGates + failed} failed`);
process.exit(failedGates + failed === 0 ? 0 : 1);
