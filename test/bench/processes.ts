/** Starts and ends the processes of the benchmark, and reads the CPU time they used. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { openSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";

export interface BenchProcess {
  readonly child: ChildProcess;
  /** First group of the pattern waited for. */
  readonly found: string;
  /** The whole line that matched. */
  readonly line: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/**
 * Starts a program and waits until a line of its output matches.
 * @throws Error with the last lines when the program ends or is silent too long
 */
export async function startProcess(
  programArguments: readonly string[],
  pattern: RegExp,
  options: { readonly timeoutMs?: number; readonly outputFile?: string } = {},
): Promise<BenchProcess> {
  const output = options.outputFile === undefined ? "pipe" : openSync(options.outputFile, "a");
  const child = spawn(process.execPath, programArguments, { stdio: ["ignore", output, "pipe"] });
  const last: string[] = [];
  const match = await new Promise<RegExpExecArray>((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`${programArguments.join(" ")} did not start:\n${last.join("\n")}`)),
      options.timeoutMs ?? 60_000,
    );
    const look = (line: string): void => {
      last.push(line);
      if (last.length > 30) last.shift();
      const match = pattern.exec(line);
      if (match !== null) {
        clearTimeout(timer);
        resolve(match);
      }
    };
    for (const stream of [child.stdout, child.stderr])
      if (stream !== null) createInterface({ input: stream }).on("line", look);
    child.on("exit", (code) =>
      reject(new Error(`${programArguments.join(" ")} ended with ${code}:\n${last.join("\n")}`)),
    );
  });
  const { pid } = child;
  if (pid === undefined) throw new Error("the process has no id");
  return {
    child,
    found: match[1] ?? "",
    line: match.input,
    pid,
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      const timer = setTimeout(() => child.kill("SIGKILL"), 5_000);
      await ended;
      clearTimeout(timer);
    },
  };
}

/** CPU time of a process and all its threads so far, in milliseconds. Linux only: reads `/proc`. */
export function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The command name may hold spaces: count from the last parenthesis. Fields 14 and 15 are user and system ticks.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticksPerSecond = 100;
  return ((Number(fields[11]) + Number(fields[12])) * 1_000) / ticksPerSecond;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}
