/**
 * `npm run soak`: the suites whose waits are minutes or hours, at full length; progress is shown as they go.
 * `TOLLGATE_SOAK_SECONDS` sets another length than two hours, `TOLLGATE_ABSENCE_MS` how long an API server or an
 * operator stays away (ten minutes), `TOLLGATE_CERTIFICATES_MS` how long certificates of two minutes are renewed (an hour).
 */
import { runSuites } from "../suites.ts";

process.env["TOLLGATE_SOAK_SECONDS"] ??= "7200";
process.env["TOLLGATE_ABSENCE_MS"] ??= "600000";
process.env["TOLLGATE_CERTIFICATES_MS"] ??= "3600000";
process.env["TOLLGATE_CERTIFICATE_SECONDS"] ??= "120";
process.env["TOLLGATE_REVOCATIONS"] ??= "200";
process.env["TOLLGATE_REVOCATION_RATE"] ??= "200";
process.env["TOLLGATE_CHURN_MS"] ??= "600000";
const absencesMs =
  10 * Number(process.env["TOLLGATE_ABSENCE_MS"]) + 2 * Number(process.env["TOLLGATE_CERTIFICATES_MS"]);
const deadlineMs = (Number(process.env["TOLLGATE_SOAK_SECONDS"]) + 1_200) * 1_000 + absencesMs;
const suites = ["soak", "resilience/kubernetes", "resilience/fleet"];
const { passed, failed } = await runSuites(suites, process.argv.slice(2), deadlineMs);
console.log(`\n${passed} passed, ${failed} failed`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);
