/** What a process holds over time, and whether that grows. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { residentBytes } from "../resilience/processes.ts";

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

/** What a process held when its garbage had been collected. */
export interface Memory {
  readonly process: number;
  /** Seconds since the epoch. */
  readonly atSeconds: number;
  /** Objects, and what they hold outside of V8's heap. */
  readonly liveBytes: number;
  /** Resident, but for V8's heap: libraries, buffers, what `malloc` keeps. */
  readonly nativeBytes: number;
}

/** Variables that have a program and its children say what they hold every `everyMs`. @param file that they append to */
export function memoryWatch(file: string, everyMs: number): Readonly<Record<string, string>> {
  const program = join(import.meta.dirname, "memory-watch.mjs");
  return { NODE_OPTIONS: `--expose-gc --import=${program}`, SOAK_MEMORY_FILE: file, SOAK_MEMORY_MS: String(everyMs) };
}

/** @returns what one process said since a time, in its order */
export function readMemory(file: string, processId: number, sinceSeconds: number): readonly Memory[] {
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  const said: Memory[] = lines.map((line) => JSON.parse(line));
  return said.filter((memory) => memory.process === processId && memory.atSeconds >= sinceSeconds);
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
