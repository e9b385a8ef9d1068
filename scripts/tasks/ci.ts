/**
 * `.ci/run`: the programs of a Kubernetes where the cache has none, `npm test`, format, lint and generated files, then the
 * slower suites, soaks scaled down and the fuzzer; ends with `N passed, N failed` and exits 1 on any failure. Nothing may
 * be skipped for want of a program here.
 *
 * What only computes (the programs of a node, then the fuzzer) runs beside the suites that mostly wait and gives way to
 * them; the others measure time, and run alone.
 */
import { spawn } from "node:child_process";
import { controlPlanePrograms, nodePrograms, prometheusCache } from "../cluster-cache.ts";
import { countFailed, formatAndLint, generatedFiles } from "../gates.ts";
import { projectRoot } from "../run.ts";
import { runBeside, runSuites, type SuiteCount } from "../suites.ts";

const fuzzDeadlineMs = 40 * 60_000;
const early = [controlPlanePrograms, prometheusCache];
const late = [formatAndLint, generatedFiles];
const beside = [nodePrograms];

const failedEarly = await countFailed(early);
process.env["TOLLGATE_SKIP"] = "never";
process.env["TOLLGATE_ABSENCE_MS"] ??= "20000";
process.env["TOLLGATE_CHURN_MS"] ??= "30000";
const first = await runTests();
const failedLate = await countFailed(late);
const alone = await runSuites(["security"]);
const building = countFailed(beside);
const fuzzing = building.then(() => runBeside("fuzz", fuzzDeadlineMs));
const waiting = await runSuites(["resilience", "integration", "chart"]);
const failedBeside = await building;
const withPods = await runSuites(["e2e", "soak"]);
const counts = [first, alone, waiting, withPods, await fuzzing];
const failedGates = failedEarly + failedLate + failedBeside;
const passed = counts.reduce(
  (sum, count) => sum + count.passed,
  early.length + late.length + beside.length - failedGates,
);
const failed = counts.reduce((sum, count) => sum + count.failed, failedGates);
console.log(`\n${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);

/** As a newcomer runs them; counted by the line that they end with. */
async function runTests(): Promise<Pick<SuiteCount, "passed" | "failed">> {
  const test = spawn("npm", ["test"], { cwd: projectRoot, stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  test.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
    process.stdout.write(text);
  });
  const status = await new Promise<number>((resolve) => test.on("close", (code) => resolve(code ?? 1)));
  const closing = /(\d+) passed, (\d+) failed\s*$/.exec(output);
  if (closing === null) return { passed: 0, failed: 1 };
  return { passed: Number(closing[1]), failed: Math.max(Number(closing[2]), status === 0 ? 0 : 1) };
}
