/**
 * Runs one reader on input after input until its time is over, and keeps what failed: smallest input, error, number.
 *
 * Time is the CPU time of this thread, so that what else the machine does is not held against a reader; a slow step is
 * repeated alone before it counts, so that neither are the compiler and the collector.
 */
import { minimise } from "./minimise.ts";
import { Random } from "./random.ts";
import type { FuzzedReader, Measure } from "./readers.ts";

export interface Failure {
  readonly case: number;
  readonly problem: string;
  /** The smallest input found that fails in the same way, as a JSON string of Latin-1 bytes, cut at 2,000 characters. */
  readonly input: string;
}

export interface FuzzOutcome {
  readonly reader: string;
  readonly cases: number;
  readonly slowestMs: number;
  readonly failures: readonly Failure[];
}

export interface FuzzOptions {
  readonly seed: number;
  /** CPU time of this thread. */
  readonly durationMs: number;
  /** Only this case. */
  readonly onlyCase?: number;
  /** Time that goes into making one failing input small. */
  readonly minimiseMs?: number;
  /** Told the number of each case before it runs, so that a case that never ends has a name. */
  readonly onCase: (index: number) => void;
}

/**
 * docs/design/reliability.md E4 says 50: a busy machine's figures fail a run beyond twice that, and the slowest step is
 * told.
 */
export const stepLimitMs = 100;
const repetitions = 5;
const failuresMax = 5;
const minimiseMsDefault = 5_000;

export function fuzzReader(reader: FuzzedReader, options: FuzzOptions): FuzzOutcome {
  const before = process.threadCpuUsage();
  const failures = new Map<string, Failure>();
  let slowestMs = 0;
  let cases = 0;
  let index = options.onlyCase ?? 0;
  do {
    options.onCase(index);
    const { input, choices } = caseOf(reader, options.seed, index);
    const found = findProblem(reader, input, choices);
    slowestMs = Math.max(slowestMs, found.slowestMs);
    if (found.problem !== undefined && !failures.has(found.problem.signature)) {
      const { signature, description } = found.problem;
      const smallest = minimise(
        input,
        (smaller) => findProblem(reader, smaller, choices).problem?.signature === signature,
        options.minimiseMs ?? minimiseMsDefault,
      );
      failures.set(signature, { case: index, problem: description, input: shown(smallest) });
    }
    cases += 1;
    index += 1;
  } while (options.onlyCase === undefined && cpuMsSince(before) < options.durationMs && failures.size < failuresMax);
  return { reader: reader.name, cases, slowestMs, failures: [...failures.values()] };
}

function caseOf(reader: FuzzedReader, seed: number, index: number): { input: Buffer; choices: number } {
  const random = Random.ofCase(seed, index);
  return { input: reader.mutate(random), choices: random.below(2 ** 31) };
}

interface Problem {
  /** The same for two inputs that fail in the same way. */
  readonly signature: string;
  readonly description: string;
}

function findProblem(
  reader: FuzzedReader,
  input: Buffer,
  choices: number,
): { readonly problem: Problem | undefined; readonly slowestMs: number } {
  let slow = slowestStep(reader, input, choices);
  for (let times = 1; times < repetitions && slow.milliseconds > stepLimitMs; times += 1) {
    const again = slowestStep(reader, input, choices);
    if (again.milliseconds < slow.milliseconds) slow = again;
  }
  const isSlow = slow.milliseconds > stepLimitMs;
  const slowness = {
    signature: `slow: ${slow.step}`,
    description: `"${slow.step}" took ${slow.milliseconds.toFixed(0)} ms for ${input.length} bytes`,
  };
  return { problem: slow.crash ?? pollution() ?? (isSlow ? slowness : undefined), slowestMs: slow.milliseconds };
}

function slowestStep(
  reader: FuzzedReader,
  input: Buffer,
  choices: number,
): { readonly step: string; readonly milliseconds: number; readonly crash: Problem | undefined } {
  let slowest = { step: "", milliseconds: 0 };
  const measure: Measure = (step, run) => {
    const before = process.threadCpuUsage();
    try {
      return run();
    } finally {
      const milliseconds = cpuMsSince(before);
      if (milliseconds > slowest.milliseconds) slowest = { step, milliseconds };
    }
  };
  try {
    reader.run(input, new Random(choices), measure);
  } catch (error) {
    return { ...slowest, crash: crashOf(error) };
  }
  return { ...slowest, crash: undefined };
}

/** Of this thread. */
function cpuMsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}

function crashOf(error: unknown): Problem {
  if (!(error instanceof Error)) return { signature: "thrown", description: `thrown: ${String(error)}` };
  const place = /\n\s+at (.*(?:proxy|test)\/.*)/.exec(error.stack ?? "")?.[1] ?? "";
  return { signature: `${error.name} ${place}`, description: (error.stack ?? error.message).slice(0, 1_500) };
}

/** What an input may have left behind for all later ones. */
function pollution(): Problem | undefined {
  for (const prototype of [Object.prototype, Array.prototype]) {
    const [name] = Object.keys(prototype);
    if (name === undefined) continue;
    Reflect.deleteProperty(prototype, name);
    return { signature: "pollution", description: `a member ${JSON.stringify(name)} was added to a prototype` };
  }
  return undefined;
}

function shown(input: Buffer): string {
  const text = JSON.stringify(input.toString("latin1"));
  return text.length > 2_000 ? `${text.slice(0, 2_000)}... (${input.length} bytes)` : text;
}
