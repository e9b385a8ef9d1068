/**
 * Runs mocha over the folders of `test/`, one process a suite, and counts what passed and failed.
 *
 * A suite is a folder of `test/`. Suites run one after the other: the machine may have two cores only. What takes nothing
 * but time of the processor may run beside those that mostly wait, and the long one of that kind runs as two halves.
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

/** Suites that keep a core busy and nothing else, with the folder that is about half of their work. */
const halves: ReadonlyMap<string, string> = new Map([["unit", "unit/proxy"]]);

interface Run {
  /** Below `test/`. */
  readonly folder: string;
  /** A folder in it whose tests are left out. */
  readonly leftOut?: string;
  readonly mochaArguments: readonly string[];
  readonly deadlineMs: number;
  /** Printed as it comes, or when it has ended under a line that begins with this. */
  readonly heading?: string;
  /** To all other processes. */
  readonly givesWay?: boolean;
}

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
    const half = halves.get(suite);
    const whole = { folder: suite, mochaArguments, deadlineMs };
    const runs: readonly Run[] =
      half === undefined
        ? [whole]
        : [
            { ...whole, leftOut: half },
            { ...whole, folder: half, heading: half },
          ];
    for (const count of await Promise.all(runs.map(run))) {
      total.passed += count.passed;
      total.failed += count.failed;
      total.skipped += count.skipped;
      total.tests.push(...count.tests);
    }
  }
  return total;
}

/** Runs a suite that gives way to all others, and shows what it printed when it has ended. */
export function runBeside(suite: string, deadlineMs: number): Promise<SuiteCount> {
  return run({
    folder: suite,
    mochaArguments: [],
    deadlineMs,
    heading: `${suite}, beside the others`,
    givesWay: true,
  });
}

async function run({ folder, leftOut, mochaArguments, deadlineMs, heading, givesWay }: Run): Promise<SuiteCount> {
  const results = mkdtempSync(join(tmpdir(), "tollgate-suite-"));
  const countFile = join(results, "count.json");
  const child = spawn(
    process.execPath,
    [
      join(projectRoot, "node_modules", "mocha", "bin", "mocha.js"),
      "--reporter",
      join(projectRoot, "scripts", "count-reporter.mjs"),
      "--reporter-option",
      `file=${countFile}`,
      ...mochaArguments,
      ...(leftOut === undefined ? [] : ["--ignore", join("test", leftOut, "**")]),
      join("test", folder, "**", "*.test.ts"),
    ],
    { cwd: projectRoot, stdio: heading === undefined ? "inherit" : ["ignore", "pipe", "pipe"] },
  );
  let printed = "";
  if (givesWay === true && child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW);
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (text: string) => {
      printed += text;
    });
  // A test that leaves a port open would else keep its suite alive for ever.
  const deadline = setTimeout(() => {
    console.log(`  FAILED  ${folder} did not end within ${deadlineMs / 60_000} minutes`);
    child.kill("SIGKILL");
  }, deadlineMs);
  const status = await new Promise<number>((resolve) => child.on("close", (code) => resolve(code ?? 1)));
  clearTimeout(deadline);
  if (heading !== undefined) console.log(`\n== ${heading} ==\n${printed}`);
  try {
    if (!existsSync(countFile)) return { passed: 0, failed: 1, skipped: 0, tests: [] };
    const count: SuiteCount = JSON.parse(readFileSync(countFile, "utf8"));
    // A run that failed without a failed test (an unhandled rejection after the last one, say) is a failure too.
    return count.failed === 0 && status !== 0 ? { ...count, failed: 1 } : count;
  } finally {
    rmSync(results, { recursive: true, force: true });
  }
}
