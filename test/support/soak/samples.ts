/** What a process holds over time, and whether that grows. */
import { readdirSync } from "node:fs";
import { residentBytes } from "../resilience/processes.ts";

export interface Sample {
  readonly atSeconds: number;
  readonly residentBytes: number;
  /** Open files, sockets among them. */
  readonly files: number;
  readonly threads: number;
}

/** @param atSeconds since the start of the measurement */
export function takeSample(processId: number, atSeconds: number): Sample {
  return {
    atSeconds,
    residentBytes: residentBytes(processId),
    files: readdirSync(`/proc/${processId}/fd`).length,
    threads: readdirSync(`/proc/${processId}/task`).length,
  };
}

/** The garbage collector makes a saw of the resident memory: only its lowest points, one each window, tell a leak. */
const windows = 12;

/**
 * Slope of the resident memory's lower edge, by least squares.
 * @returns bytes a second; 0 for fewer than two samples
 */
export function residentSlope(samples: readonly Sample[]): number {
  const first = samples[0]?.atSeconds ?? 0;
  const lengthSeconds = (samples.at(-1)?.atSeconds ?? 0) - first;
  if (lengthSeconds <= 0) return 0;
  const lowest = new Map<number, Sample>();
  for (const sample of samples) {
    const window = Math.min(windows - 1, Math.floor(((sample.atSeconds - first) / lengthSeconds) * windows));
    const known = lowest.get(window);
    if (known === undefined || sample.residentBytes < known.residentBytes) lowest.set(window, sample);
  }
  const points = [...lowest.values()];
  const mean = (of: (sample: Sample) => number): number =>
    points.reduce((sum, sample) => sum + of(sample), 0) / points.length;
  const meanSeconds = mean((sample) => sample.atSeconds);
  const meanBytes = mean((sample) => sample.residentBytes);
  const spread = mean((sample) => (sample.atSeconds - meanSeconds) ** 2);
  const together = mean((sample) => (sample.atSeconds - meanSeconds) * (sample.residentBytes - meanBytes));
  return spread === 0 ? 0 : together / spread;
}
