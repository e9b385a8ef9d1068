/**
 * `.ci/run`: `npm test`, format, lint and generated files, then the slower suites, soaks scaled down and the fuzzer; ends
 * with `N passed, N failed` and exits 1 on any failure. Where the cache has no Kubernetes its programs are built meanwhile,
 * and the suites that run them come when they are there. Nothing may be skipped for want of a program here.
 */
import { spawn } from "node:child_process";
import { clusterCache, prometheusCache } from "../cluster-cache.ts";
import { countFailed, formatAndLint, generatedFiles } from "../gates.ts";
import { projectRoot } from "../run.ts";
import { runSuites } from "../suites.ts";

const programs = [clusterCache, prometheusCache];
const checks = [formatAndLint, generatedFiles];
process.env["TOLLGATE_SKIP"] = "never";
process.env["TOLLGATE_ABSENCE_MS"] ??= "20000";
process.env["TOLLGATE_CHURN_MS"] ??= "30000";

const building = countFailed(programs);
const first = await runTests();
const failedChecks = await countFailed(checks);
const alone = await runSuites(["security", "resilience/gateway"]);
const failedGates = failedChecks + (await building);
const clusterSuites = ["resilience/fleet", "resilience/kubernetes", "integration", "chart", "e2e", "soak"];
const slower = await runSuites([...clusterSuites, "fuzz"]);
const failed = first.failed + failedGates + alone.failed + slower.failed;
const gates = programs.length + checks.length;
console.log(`\n${first.passed + gates - failedGates + alone.passed + slower.passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);

/** As a newcomer runs them; counted by the line that they end with. */
async function runTests(): Promise<{ readonly passed: number; readonly failed: number }> {
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
