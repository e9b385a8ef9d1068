/**
 * `npm run soak [-- SUITE ...]`: the suites whose waits are minutes or hours, at full length; progress is shown as they
 * go, and the last table of each is kept in `test/bench/soak/`. All of it takes some five hours; suites that are named
 * run alone, so that several machines, or terminals, can share them. Arguments of mocha (`--grep 'TITLE'`) repeat some
 * cases, which take the place of their own rows.
 *
 * `TOLLGATE_SOAK_SECONDS` sets another length than two hours, `TOLLGATE_ABSENCE_MS` how long an API server or an
 * operator stays away (ten minutes), `TOLLGATE_CERTIFICATES_MS` how long certificates of two minutes are renewed (an hour).
 */
import { writeSoakTable } from "#scripts/soak-tables";
import { runSuites } from "#scripts/suites";

const fullLengths: Readonly<Record<string, string>> = {
  TOLLGATE_SOAK_SECONDS: "7200",
  TOLLGATE_ABSENCE_MS: "600000",
  TOLLGATE_CERTIFICATES_MS: "3600000",
  TOLLGATE_CERTIFICATE_SECONDS: "120",
  TOLLGATE_REVOCATIONS: "200",
  TOLLGATE_REVOCATION_RATE: "200",
  TOLLGATE_ROTATION_CALLS: "100000",
  TOLLGATE_ENDPOINT_LAG_MS: "5000",
  TOLLGATE_STREAM_MS: "30000",
  TOLLGATE_CHURN_MS: "600000",
};
const all = ["soak", "resilience/gateway", "resilience/kubernetes", "resilience/fleet"];

for (const [name, value] of Object.entries(fullLengths)) process.env[name] ??= value;
const lengths = Object.fromEntries(Object.keys(fullLengths).map((name) => [name, process.env[name] ?? ""]));
const length = (name: string): number => Number(lengths[name]);
const absencesMs = 10 * length("TOLLGATE_ABSENCE_MS") + 2 * length("TOLLGATE_CERTIFICATES_MS");
const deadlineMs = (length("TOLLGATE_SOAK_SECONDS") + 1_200) * 1_000 + absencesMs;
const mochaArguments = process.argv.slice(2).filter((argument) => !all.includes(argument));
const named = all.filter((suite) => process.argv.includes(suite));
let passed = 0;
let failed = 0;
for (const suite of named.length > 0 ? named : all) {
  const count = await runSuites([suite], mochaArguments, deadlineMs);
  passed += count.passed;
  failed += count.failed;
  writeSoakTable({ suite, tests: count.tests, lengths, isPart: mochaArguments.length > 0 });
}
console.log(`\n${passed} passed, ${failed} failed`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);
