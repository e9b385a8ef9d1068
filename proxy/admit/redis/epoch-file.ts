/**
 * Keeps the epoch of a shared store outside it: a store that came back empty, or as another one, is recognised by it
 * (docs/design/limits-and-money.md 9). Proxies of one machine share the file.
 *
 * The file also says whether `quota.acceptEmpty` was set when the epoch was last counted in. So that permission holds
 * once: left in the settings it accepts no second loss. A start without it makes it good for another time.
 */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeFolder } from "#proxy/sqlite/make-folder";
import type { KeptEpoch } from "./check-store.ts";

const usedMark = "quota.acceptEmpty was used";

/** @param folder of the ledger */
export function epochPath(folder: string): string {
  return join(folder, "redis.epoch");
}

export class EpochFile implements KeptEpoch {
  readonly path: string;
  readonly #acceptEmpty: boolean;
  /** This process has counted in an epoch: it accepts no other one. */
  #isKept = false;

  /** @param folder made if absent */
  constructor(folder: string, acceptEmpty: boolean) {
    makeFolder(folder);
    this.path = epochPath(folder);
    this.#acceptEmpty = acceptEmpty;
    const [epoch, mark] = this.#lines();
    if (!acceptEmpty && epoch !== undefined && mark === usedMark) this.#write([epoch]);
  }

  /** @returns undefined where none is kept yet. @throws Error where the file cannot be read */
  read(): string | undefined {
    const [epoch = ""] = this.#lines();
    return epoch === "" ? undefined : epoch;
  }

  /** @throws Error where the file cannot be read */
  get mayBegin(): boolean {
    return this.#acceptEmpty && !this.#isKept && this.#lines()[1] !== usedMark;
  }

  /** Replaces the file whole where it says something else. @throws Error where the disk does not take it */
  keep(epoch: string): void {
    const lines = this.#acceptEmpty ? [epoch, usedMark] : [epoch];
    if (this.#lines().join("\n") !== lines.join("\n")) this.#write(lines);
    this.#isKept = true;
  }

  #write(lines: readonly string[]): void {
    const unfinished = `${this.path}.${process.pid}.tmp`;
    writeFileSync(unfinished, `${lines.join("\n")}\n`, { mode: 0o600 });
    renameSync(unfinished, this.path);
  }

  #lines(): readonly string[] {
    try {
      return readFileSync(this.path, "utf8").trim().split("\n");
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
      throw error;
    }
  }
}
