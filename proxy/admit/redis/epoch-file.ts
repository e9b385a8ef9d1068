/**
 * Keeps the epoch of a shared store outside it: a store that came back empty, or as another one, is recognised by it
 * (docs/design/limits-and-money.md 9). Proxies of one machine share the file.
 */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeFolder } from "#proxy/sqlite/make-folder";

export class EpochFile {
  readonly path: string;

  /** @param folder made if absent */
  constructor(folder: string) {
    makeFolder(folder);
    this.path = join(folder, "redis.epoch");
  }

  /** @returns undefined where none is kept yet. @throws Error where the file cannot be read */
  read(): string | undefined {
    try {
      const epoch = readFileSync(this.path, "utf8").trim();
      return epoch === "" ? undefined : epoch;
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
      throw error;
    }
  }

  /** Replaces it whole. @throws Error where the disk does not take it */
  write(epoch: string): void {
    const unfinished = `${this.path}.${process.pid}.tmp`;
    writeFileSync(unfinished, `${epoch}\n`, { mode: 0o600 });
    renameSync(unfinished, this.path);
  }
}
