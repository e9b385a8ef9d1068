/**
 * `npm run soak`: the suites whose waits are minutes or hours, at full length; progress is shown as they go.
 * `TOLLGATE_SOAK_SECONDS` sets another length than two hours, `TOLLGATE_ABSENCE_MS` how long an API server or an
 * operator stays away (ten minutes).
 */
import { runSuites } from "../suites.ts";

process.env["TOLLGATE_SOAK_SECONDS"] ??= "7200";
process.env["TOLLGATE_ABSENCE_MS"] ??= "600000";
const absencesMs = 10 * Number(process.env["TOLLGATE_ABSENCE_MS"]);
const deadlineMs = (Number(process.env["TOLLGATE_SOAK_SECONDS"]) + 1_200) * 1_000 + absencesMs;
const { passed, failed } = await runSuites(["soak", "resilience/kubernetes"], process.argv.slice(2), deadlineMs);
console.log(`\n${passed} passed, ${failed} failed`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);
