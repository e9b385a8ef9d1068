/**
 * `.ci/run`: `npm test`, format, lint and generated files, then the slower suites, soaks scaled down and the fuzzer; ends
 * with `N passed, N failed` and exits 1 on any failure. Nothing may be skipped for want of a program here: those of a
 * Kubernetes are built where the cache has none.
 *
 * What only computes (those programs, then the fuzzer) runs beside the suites that mostly wait and gives way to them; the
 * others measure time, or run other people's programs against deadlines, and run alone. So the suites stand in the order
 * of what they need: nothing, a control plane, nodes.
 */
import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { controlPlanePrograms, nodePrograms, prometheusCache } from "#scripts/cluster-cache";
import { countFailed, formatAndLint, generatedFiles } from "#scripts/gates";
import { projectRoot } from "#scripts/run";
import { storeProgram } from "#scripts/store-program";
import { runBeside, runSuites, type SuiteCount } from "#scripts/suites";

const fuzzDeadlineMs = 40 * 60_000;
const gates = [formatAndLint, generatedFiles, prometheusCache];

process.env["TOLLGATE_SKIP"] = "never";
process.env["TOLLGATE_ABSENCE_MS"] ??= "20000";
process.env["TOLLGATE_CHURN_MS"] ??= "30000";
// Before the tests: some of them need it.
const failedStore = await countFailed([storeProgram]);
const fast = await runTests();
const failedGates = failedStore + (await countFailed(gates));
const measuring = await runSuites(["clients", "security", "bench"]);

const controlPlane = countFailed([controlPlanePrograms]);
const nodes = controlPlane.then(() => countFailed([nodePrograms]));
const fuzzing = nodes.then(() => runBeside("fuzz", fuzzDeadlineMs));
const plain = "resilience/gateway";
const waiting = await runSuites([plain]);
const failedPrograms = await controlPlane;
const onControlPlane = await runSuites(
  [...foldersOf("resilience"), "integration", "chart"].filter((one) => one !== plain),
);
const failedNodes = await nodes;
const onNodes = await runSuites(["e2e", "soak"]);

const counts = [fast, measuring, waiting, onControlPlane, onNodes, await fuzzing];
const failedOthers = failedGates + failedPrograms + failedNodes;
const passed = counts.reduce(
  (sum, count) => sum + count.passed,
  [storeProgram, ...gates, controlPlanePrograms, nodePrograms].length - failedOthers,
);
const failed = counts.reduce((sum, count) => sum + count.failed, failedOthers);
console.log(`\n${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);

/** @throws Error for a test that stands in none of them, and would be forgotten */
function foldersOf(suite: string): string[] {
  const entries = readdirSync(join(projectRoot, "test", suite), { withFileTypes: true });
  const stray = entries.find((entry) => entry.isFile());
  if (stray !== undefined) throw new Error(`test/${suite}/${stray.name} must stand in one of the suite's folders`);
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => `${suite}/${name}`);
}

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
