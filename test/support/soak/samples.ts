/** What a process holds over time, and whether that grows. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { residentBytes } from "#test/support/resilience/processes";

export interface Sample {
  readonly residentBytes: number;
  /** Open files, sockets among them. */
  readonly files: number;
  readonly threads: number;
}

export function takeSample(processId: number): Sample {
  return {
    residentBytes: residentBytes(processId),
    files: readdirSync(`/proc/${processId}/fd`).length,
    threads: readdirSync(`/proc/${processId}/task`).length,
  };
}

/** What a process held when the garbage of all its threads had been collected. */
export interface Memory {
  /** Seconds since the epoch. */
  readonly atSeconds: number;
  /** Objects, and what they hold outside of V8's heaps. */
  readonly liveBytes: number;
  readonly residentBytes: number;
}

/** As `memory-watch.mjs` writes it. */
interface ThreadMemory {
  readonly process: number;
  readonly thread: number;
  readonly atSeconds: number;
  readonly liveBytes: number;
  /** Of the whole process; the main thread says it. */
  readonly residentBytes?: number;
}

/** Variables that have a program and its children say what they hold every `everyMs`. @param file that they append to */
export function memoryWatch(file: string, everyMs: number): Readonly<Record<string, string>> {
  const program = join(import.meta.dirname, "memory-watch.mjs");
  return { NODE_OPTIONS: `--expose-gc --import=${program}`, SOAK_MEMORY_FILE: file, SOAK_MEMORY_MS: String(everyMs) };
}

/**
 * @returns what one process held since a time, in its order: whenever its main thread spoke, with the last word of each
 * other thread
 */
export function readMemory(file: string, processId: number, sinceSeconds: number): readonly Memory[] {
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  const said: ThreadMemory[] = lines.map((line) => JSON.parse(line)).filter((one) => one.process === processId);
  const last = new Map<number, ThreadMemory>();
  const memories: Memory[] = [];
  for (const one of said) {
    last.set(one.thread, one);
    if (one.residentBytes === undefined || one.atSeconds < sinceSeconds) continue;
    const liveBytes = [...last.values()].reduce((bytes, thread) => bytes + thread.liveBytes, 0);
    memories.push({ atSeconds: one.atSeconds, liveBytes, residentBytes: one.residentBytes });
  }
  return memories;
}

/**
 * Slope by least squares.
 * @returns units of `of` a second; 0 for fewer than two points
 */
export function slope<Point extends { readonly atSeconds: number }>(
  points: readonly Point[],
  of: (point: Point) => number,
): number {
  const mean = (value: (point: Point) => number): number =>
    points.reduce((sum, point) => sum + value(point), 0) / points.length;
  const meanSeconds = mean(({ atSeconds }) => atSeconds);
  const meanValue = mean(of);
  const spread = mean(({ atSeconds }) => (atSeconds - meanSeconds) ** 2);
  const together = mean((point) => (point.atSeconds - meanSeconds) * (of(point) - meanValue));
  return spread > 0 ? together / spread : 0;
}
