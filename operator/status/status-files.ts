/**
 * Writes status as files, for an operator without Kubernetes: `status/<kind>/<namespace>/<name>.yaml` in the data
 * folder.
 *
 * A file is written whole or not at all, and only when its content changed, also over restarts. Writes happen one after
 * another in the background, and a newer status replaces one that still waits. With more than 1,000 objects of a kind,
 * only objects with something to report have a file, and no file means that all is well: a folder of 100,000 files
 * would take minutes to write, and nobody reads it.
 */
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { stringify } from "yaml";
import { isPathSegment } from "#operator/resources/path-segment";
import { hasReason } from "#operator/resources/reasons";
import type { StatusDocument } from "./status-document.ts";
import type { ObjectName, StatusSink } from "./status-sink.ts";

/** Kinds with more objects than this have files for remarkable objects only. */
const filesOfAllMax = 1_000;

export interface StatusFilesOptions {
  /** The `status` folder; created when needed. */
  readonly folder: string;
  readonly onFailure: (cause: unknown) => void;
  /** How many objects of a kind there are. */
  readonly countOf: (kind: StatusDocument["kind"]) => number;
}

export class StatusFiles implements StatusSink {
  readonly #folder: string;
  readonly #options: StatusFilesOptions;
  /** Files that exist, as far as this run knows. */
  readonly #present = new Map<string, ObjectName>();
  readonly #waiting = new Map<string, StatusDocument | undefined>();
  #writing: Promise<void> | undefined;
  #isClosed = false;
  #writes = 0;

  constructor(options: StatusFilesOptions) {
    this.#folder = options.folder;
    this.#options = options;
  }

  /** Files written since the start: one for each change of meaning. */
  get writes(): number {
    return this.#writes;
  }

  put(document: StatusDocument): void {
    const path = this.#pathOf({ kind: document.kind, ...document.metadata });
    if (path === undefined) return;
    if (this.#hasFile(document)) this.#enqueue(path, document);
    else if (this.#present.has(path) || this.#waiting.has(path)) this.#enqueue(path, undefined);
  }

  #hasFile(document: StatusDocument): boolean {
    return this.#options.countOf(document.kind) <= filesOfAllMax || isRemarkable(document);
  }

  remove(object: ObjectName): void {
    const path = this.#pathOf(object);
    if (path !== undefined) this.#enqueue(path, undefined);
  }

  /** Finds the files of an earlier run; call it before the first `put`. */
  async findPresent(): Promise<void> {
    const paths = await readdir(this.#folder, { recursive: true }).catch(() => []);
    for (const path of paths) {
      const [kind, namespace, file, ...rest] = path.split("/");
      if (kind === undefined || namespace === undefined || !file?.endsWith(".yaml") || rest.length > 0) continue;
      const name = file.slice(0, -".yaml".length);
      // Hidden files are not ours.
      if ([kind, namespace, name].every(isPathSegment))
        this.#present.set(join(this.#folder, path), { kind, namespace, name });
    }
  }

  /** Removes the files of objects that are gone. */
  removeAllBut(isKept: (object: ObjectName) => boolean): void {
    for (const object of [...this.#present.values()]) if (!isKept(object)) this.remove(object);
  }

  /** Resolves when everything put so far is on disk. */
  async flush(): Promise<void> {
    while (this.#writing) await this.#writing;
  }

  async close(): Promise<void> {
    await this.flush();
    this.#isClosed = true;
  }

  /** @returns undefined, after reporting it, when the names lead out of the folder */
  #pathOf({ kind, namespace, name }: ObjectName): string | undefined {
    if ([kind, namespace, name].every(isPathSegment)) return join(this.#folder, kind, namespace, `${name}.yaml`);
    this.#options.onFailure(new Error(`${JSON.stringify([kind, namespace, name])} cannot be the name of a file`));
    return undefined;
  }

  #enqueue(path: string, document: StatusDocument | undefined): void {
    if (this.#isClosed) return;
    this.#waiting.set(path, document);
    this.#writing ??= this.#drain().finally(() => {
      this.#writing = undefined;
    });
  }

  async #drain(): Promise<void> {
    for (let next = this.#shift(); next !== undefined; next = this.#shift()) {
      const [path, document] = next;
      try {
        if (document === undefined) await this.#remove(path);
        // It may have been put while there were fewer.
        else if (this.#hasFile(document)) {
          this.#present.set(path, { kind: document.kind, ...document.metadata });
          await this.#write(path, stringify(document, { lineWidth: 0 }));
        }
      } catch (cause) {
        this.#options.onFailure(cause);
      }
    }
  }

  #shift(): [string, StatusDocument | undefined] | undefined {
    for (const entry of this.#waiting) {
      this.#waiting.delete(entry[0]);
      return entry;
    }
    return undefined;
  }

  async #remove(path: string): Promise<void> {
    await rm(path, { force: true });
    this.#present.delete(path);
  }

  async #write(path: string, content: string): Promise<void> {
    const before = await readFile(path, "utf8").catch(() => undefined);
    if (before !== undefined && meaningOf(before) === meaningOf(content)) return;
    await mkdir(dirname(path), { recursive: true });
    const unfinished = `${path}.tmp`;
    await writeFile(unfinished, content, { mode: 0o600 });
    await rename(unfinished, path);
    this.#writes += 1;
  }
}

/** Whether an object has something to report: a bad condition, or usage. */
function isRemarkable({ status }: StatusDocument): boolean {
  if ("usage" in status || "lastUsedTime" in status || "balance" in status) return true;
  return status.conditions.some((condition) => {
    if (hasReason(condition, "Accepted", "PartiallyValid")) return true;
    // Not yet acknowledged, or without proxies: no action is needed.
    return condition.status === "False" && !hasReason(condition, "Programmed", "Pending", "NoProxies");
  });
}

/** Without the times of transitions: an operator that restarts does not know them and must not write for them. */
function meaningOf(content: string): string {
  return content.replace(/^ *lastTransitionTime: .*$/gm, "");
}
