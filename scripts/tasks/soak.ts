/**
 * `npm run soak`: the suites whose waits are hours, at full length; progress is shown as they go.
 * `TOLLGATE_SOAK_SECONDS` sets another length than two hours.
 */
import { runSuites } from "../suites.ts";

process.env["TOLLGATE_SOAK_SECONDS"] ??= "7200";
const deadlineMs = (Number(process.env["TOLLGATE_SOAK_SECONDS"]) + 1_200) * 1_000;
const { passed, failed } = await runSuites(["soak"], process.argv.slice(2), deadlineMs);
console.log(`\n${passed} passed, ${failed} failed`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);
