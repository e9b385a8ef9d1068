/** Finds the files of entries that former processes left, and reads them a part at a time, however large they are. */
import { closeSync, fstatSync, openSync, readdirSync, readSync, renameSync } from "node:fs";
import { rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { parseEntry, type UndeliveredEntry } from "./undelivered-entry.ts";

interface LeftFile {
  readonly path: string;
  /** Bytes read so far. */
  toByte: number;
  isRead: boolean;
}

const chunkBytes = 1024 * 1024;

export class LeftFiles {
  #files: LeftFile[] = [];

  /**
   * @param ownPath renamed where it is there: this process begins its own file anew, and appends to no line that the end
   *   of another one has cut
   * @throws Error where the folder cannot be used
   */
  constructor(folder: string, ownPath: string) {
    for (const name of readdirSync(folder)) {
      if (!/^undelivered-[\w.-]+\.jsonl$/.test(name)) continue;
      let path = join(folder, name);
      if (path === ownPath) {
        path = ownPath.replace(/jsonl$/, `${Date.now().toString(36)}.jsonl`);
        renameSync(ownPath, path);
      }
      this.#files.push({ path, toByte: 0, isRead: false });
    }
  }

  /** Whether there is something left to read. */
  get hasMore(): boolean {
    return this.#files.some(({ isRead }) => !isRead);
  }

  /** Reads the next entries, at least `max` where there are so many, and at most a chunk more. @throws Error as `read` does */
  read(max: number): UndeliveredEntry[] {
    const entries: UndeliveredEntry[] = [];
    for (const file of this.#files) {
      while (!file.isRead && entries.length < max) readChunk(file, entries);
    }
    return entries;
  }

  /** Removes what was read whole; call it when all of it is delivered. */
  async remove(): Promise<void> {
    const done = this.#files.filter(({ isRead }) => isRead);
    this.#files = this.#files.filter(({ isRead }) => !isRead);
    for (const { path, toByte } of done) {
      const now = await stat(path).catch(() => undefined);
      // A living process goes on with its own file.
      if (now?.size === toByte) await rm(path, { force: true });
    }
  }
}

/** Adds the entries of the next whole lines, and at the end of the file also what stands there without a line break. */
function readChunk(file: LeftFile, entries: UndeliveredEntry[]): void {
  const descriptor = openIfThere(file.path);
  if (descriptor === undefined) {
    file.isRead = true;
    return;
  }
  try {
    const { size } = fstatSync(descriptor);
    const bytes = Buffer.allocUnsafe(Math.max(0, Math.min(chunkBytes, size - file.toByte)));
    const count = readSync(descriptor, bytes, 0, bytes.length, file.toByte);
    const isEnd = count === 0 || file.toByte + count >= size;
    const lineEnd = bytes.subarray(0, count).lastIndexOf(0x0a) + 1;
    // No entry is as long as a chunk: a chunk without a line break is nothing that we wrote, and is passed over.
    const used = isEnd || lineEnd === 0 ? count : lineEnd;
    for (const line of bytes.toString("utf8", 0, used).split("\n")) {
      const entry = parseEntry(line);
      if (entry !== undefined) entries.push(entry);
    }
    file.toByte += used;
    file.isRead = isEnd;
  } finally {
    closeSync(descriptor);
  }
}

/** A living process removes its own file when all of it is told. @throws Error for whatever else is wrong */
function openIfThere(path: string): number | undefined {
  try {
    return openSync(path, "r");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}
