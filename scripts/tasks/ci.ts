/**
 * `.ci/run`: the programs of a Kubernetes where the cache has none, `npm test`, format, lint and generated files, then the
 * slower suites, soaks scaled down and the fuzzer; ends with `N passed, N failed` and exits 1 on any failure. Nothing may
 * be skipped for want of a program here.
 */
import { spawnSync } from "node:child_process";
import { clusterCache, prometheusCache } from "../cluster-cache.ts";
import { formatAndLint, generatedFiles, pass } from "../gates.ts";
import { projectRoot } from "../run.ts";
import { runSuites } from "../suites.ts";

const early = [clusterCache, prometheusCache];
const failedEarly = early.filter((gate) => !pass(gate)).length;
process.env["TOLLGATE_SKIP"] = "never";
process.env["TOLLGATE_ABSENCE_MS"] ??= "20000";
process.env["TOLLGATE_CHURN_MS"] ??= "30000";
const test = spawnSync("npm", ["test"], {
  cwd: projectRoot,
  stdio: ["ignore", "pipe", "inherit"],
  encoding: "utf8",
  maxBuffer: 2 ** 28,
});
console.log(test.stdout);
const closing = /(\d+) passed, (\d+) failed\s*$/.exec(test.stdout);
const first = closing === null ? { passed: 0, failed: 1 } : { passed: Number(closing[1]), failed: Number(closing[2]) };
if (test.status !== 0 && first.failed === 0) first.failed = 1;
const late = [formatAndLint, generatedFiles];
const failedGates = failedEarly + late.filter((gate) => !pass(gate)).length;
const slower = await runSuites(["security", "resilience", "integration", "chart", "e2e", "soak", "fuzz"]);
const failed = first.failed + failedGates + slower.failed;
console.log(`\n${first.passed + early.length + late.length - failedGates + slower.passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
