/**
 * Runs mocha over the folders of `test/`, one process a suite, and counts what passed and failed.
 *
 * A suite is a folder of `test/`. Suites run one after the other: the machine may have two cores only. What takes nothing
 * but time of the processor may run beside those that mostly wait.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { constants, setPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { projectRoot } from "./run.ts";

export interface SuiteCount {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly tests: readonly EndedTest[];
}

/** As `count-reporter.mjs` writes it. */
export interface EndedTest {
  readonly title: string;
  readonly tookMs: number;
  readonly isPassed: boolean;
  /** What it showed by `showFigure`. */
  readonly figures: readonly string[];
}

const suiteDeadlineMs = 20 * 60_000;

/**
 * @param mochaArguments passed on, for example `--grep`
 * @param deadlineMs of one suite; one that takes longer is killed and counts as failed
 */
export async function runSuites(
  suites: readonly string[],
  mochaArguments: readonly string[] = [],
  deadlineMs: number = suiteDeadlineMs,
): Promise<SuiteCount> {
  const total = { passed: 0, failed: 0, skipped: 0, tests: [] as EndedTest[] };
  for (const suite of suites) {
    if (!existsSync(join(projectRoot, "test", suite))) continue;
    console.log(`\n== ${suite} ==`);
    const count = await runSuite(suite, mochaArguments, deadlineMs, "shown");
    total.passed += count.passed;
    total.failed += count.failed;
    total.skipped += count.skipped;
    total.tests.push(...count.tests);
  }
  return total;
}

/** Runs a suite that gives way to all others, and shows what it printed when it has ended. */
export function runBeside(suite: string, deadlineMs: number): Promise<SuiteCount> {
  return runSuite(suite, [], deadlineMs, "beside");
}

async function runSuite(
  suite: string,
  mochaArguments: readonly string[],
  deadlineMs: number,
  manner: "shown" | "beside",
): Promise<SuiteCount> {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-suite-"));
  const countFile = join(folder, "count.json");
  const child = spawn(
    process.execPath,
    [
      join(projectRoot, "node_modules", "mocha", "bin", "mocha.js"),
      "--reporter",
      join(projectRoot, "scripts", "count-reporter.mjs"),
      "--reporter-option",
      `file=${countFile}`,
      ...mochaArguments,
      join("test", suite, "**", "*.test.ts"),
    ],
    { cwd: projectRoot, stdio: manner === "shown" ? "inherit" : ["ignore", "pipe", "pipe"] },
  );
  let printed = "";
  if (manner === "beside" && child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW);
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (text: string) => {
      printed += text;
    });
  // A test that leaves a port open would else keep its suite alive for ever.
  const deadline = setTimeout(() => {
    console.log(`  FAILED  ${suite} did not end within ${deadlineMs / 60_000} minutes`);
    child.kill("SIGKILL");
  }, deadlineMs);
  const status = await new Promise<number>((resolve) => child.on("close", (code) => resolve(code ?? 1)));
  clearTimeout(deadline);
  if (manner === "beside") console.log(`\n== ${suite}, beside the others ==\n${printed}`);
  try {
    if (!existsSync(countFile)) return { passed: 0, failed: 1, skipped: 0, tests: [] };
    const count: SuiteCount = JSON.parse(readFileSync(countFile, "utf8"));
    // A run that failed without a failed test (an unhandled rejection after the last one, say) is a failure too.
    return count.failed === 0 && status !== 0 ? { ...count, failed: 1 } : count;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
