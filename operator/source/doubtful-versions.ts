/** Remembers versions of files that were seen and not applied, because they remove something: somebody may be writing them. */

interface Doubtful {
  readonly digest: string;
  readonly sinceMs: number;
}

export class DoubtfulVersions {
  readonly #settleMs: number;
  readonly #seen = new Map<string, Doubtful>();

  /** @param settleMs how long a version must not change */
  constructor(settleMs: number) {
    this.#settleMs = settleMs;
  }

  /** Notes that a file is in this version. @returns for how long it must stay so until it may be applied; 0: it may */
  note(path: string, digest: string): number {
    const nowMs = performance.now();
    const seen = this.#seen.get(path);
    if (seen?.digest === digest) return Math.max(0, seen.sinceMs + this.#settleMs - nowMs);
    this.#seen.set(path, { digest, sinceMs: nowMs });
    return this.#settleMs;
  }

  /** For how long a file has been in the version that was noted last; 0 for one of which none was. */
  ageMs(path: string): number {
    const seen = this.#seen.get(path);
    return seen === undefined ? 0 : performance.now() - seen.sinceMs;
  }

  paths(): Iterable<string> {
    return this.#seen.keys();
  }

  delete(path: string): void {
    this.#seen.delete(path);
  }
}
