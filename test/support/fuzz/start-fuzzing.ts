/** Runs the fuzzer of one reader in a process of its own, and ends it when a case does not. */
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { FuzzOutcome } from "./fuzz-reader.ts";

const program = join(import.meta.dirname, "fuzz-child.ts");
/** A case takes milliseconds, and making a failing one small some seconds. */
const hangMs = 30_000;

export interface FuzzingOptions {
  readonly seed: number;
  /** CPU time: beside other work a minute of fuzzing takes several. */
  readonly durationMs: number;
  /** Where the number of the running case is kept. */
  readonly folder: string;
  readonly signal: AbortSignal;
  /** Another program in place of the fuzzer, and what counts as a hang: for this function's own tests. */
  readonly program?: string;
  readonly hangMs?: number;
}

/** @throws Error when the process ends without an outcome, naming the case that ran */
export async function startFuzzing(reader: string, options: FuzzingOptions): Promise<FuzzOutcome> {
  const { seed, durationMs, folder, signal } = options;
  const caseFile = join(folder, reader.replaceAll(" ", "-"));
  const child = spawn(
    process.execPath,
    [options.program ?? program, reader, String(seed), String(durationMs), caseFile],
    { stdio: ["ignore", "pipe", "pipe"] },
  );
  const stop = (): void => void child.kill("SIGKILL");
  signal.addEventListener("abort", stop);
  const watch = endWhenStuck(child, caseFile, options.hangMs ?? hangMs);
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString("utf8");
  });
  let complaint = "";
  child.stderr.on("data", (chunk: Buffer) => {
    complaint = (complaint + chunk.toString("utf8")).slice(-4_000);
  });
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  clearInterval(watch.timer);
  signal.removeEventListener("abort", stop);
  if (code === 0) return JSON.parse(output) as FuzzOutcome;
  const manner = watch.isStuck() ? "a case did not end" : `the process ended with ${code}: ${complaint}`;
  throw new Error(`${manner}\nagain: ${repeatCommand(reader, seed, Number(readCase(caseFile)))}`);
}

/** What a person types to run one case alone. */
export function repeatCommand(reader: string, seed: number, index: number): string {
  return `node test/support/fuzz/fuzz-child.ts "${reader}" ${seed} 0 /dev/null ${index}`;
}

function endWhenStuck(
  child: ChildProcess,
  caseFile: string,
  limitMs: number,
): { readonly timer: NodeJS.Timeout; readonly isStuck: () => boolean } {
  let last = "";
  let sinceMs = performance.now();
  let isStuck = false;
  const timer = setInterval(
    () => {
      const now = readCase(caseFile);
      if (now !== last) {
        last = now;
        sinceMs = performance.now();
      } else if (performance.now() - sinceMs > limitMs) {
        isStuck = true;
        child.kill("SIGKILL");
      }
    },
    Math.min(1_000, limitMs / 4),
  );
  return { timer, isStuck: () => isStuck };
}

function readCase(caseFile: string): string {
  try {
    return readFileSync(caseFile, "utf8").trim();
  } catch {
    return "0";
  }
}
