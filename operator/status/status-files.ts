/**
 * Status as files, where there is no Kubernetes to keep it: `status/<kind>/<namespace>/<name>.yaml` in the data folder.
 *
 * A file is written whole or not at all, and only when its content changed, also over restarts. Writes go one after
 * another in the background; a newer status of the same object replaces one that still waits.
 */
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { stringify } from "yaml";
import type { StatusDocument } from "./status-document.ts";

export interface ObjectName {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

export class StatusFiles {
  readonly #folder: string;
  readonly #onFailure: (cause: unknown) => void;
  readonly #waiting = new Map<string, StatusDocument | undefined>();
  #writing: Promise<void> | undefined;
  #isClosed = false;
  #writes = 0;

  /** @param folder the `status` folder; created when needed */
  constructor(folder: string, onFailure: (cause: unknown) => void) {
    this.#folder = folder;
    this.#onFailure = onFailure;
  }

  /** Files written since the start: one for each change of meaning. */
  get writes(): number {
    return this.#writes;
  }

  put(document: StatusDocument): void {
    this.#enqueue(this.#pathOf({ kind: document.kind, ...document.metadata }), document);
  }

  remove(object: ObjectName): void {
    this.#enqueue(this.#pathOf(object), undefined);
  }

  /** Removes what an earlier run left of objects that are gone. */
  async removeAllBut(isKept: (object: ObjectName) => boolean): Promise<void> {
    const paths = await readdir(this.#folder, { recursive: true }).catch(() => []);
    for (const path of paths) {
      const [kind, namespace, file, ...rest] = path.split("/");
      if (kind === undefined || namespace === undefined || !file?.endsWith(".yaml") || rest.length > 0) continue;
      const object = { kind, namespace, name: file.slice(0, -".yaml".length) };
      if (!isKept(object)) this.remove(object);
    }
  }

  /** Resolves when everything put so far is on disk. */
  async flush(): Promise<void> {
    while (this.#writing) await this.#writing;
  }

  async close(): Promise<void> {
    await this.flush();
    this.#isClosed = true;
  }

  // Names have passed the schema: no part of a path can lead out of the folder.
  #pathOf({ kind, namespace, name }: ObjectName): string {
    return join(this.#folder, kind, namespace, `${name}.yaml`);
  }

  #enqueue(path: string, document: StatusDocument | undefined): void {
    if (this.#isClosed) return;
    this.#waiting.set(path, document);
    this.#writing ??= this.#drain().finally(() => {
      this.#writing = undefined;
    });
  }

  async #drain(): Promise<void> {
    for (let next = this.#take(); next !== undefined; next = this.#take()) {
      const [path, document] = next;
      try {
        if (document === undefined) await rm(path, { force: true });
        else await this.#write(path, stringify(document, { lineWidth: 0 }));
      } catch (cause) {
        this.#onFailure(cause);
      }
    }
  }

  #take(): [string, StatusDocument | undefined] | undefined {
    for (const entry of this.#waiting) {
      this.#waiting.delete(entry[0]);
      return entry;
    }
    return undefined;
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

/** Without the times of transitions: an operator that restarts does not know them and must not write for them. */
function meaningOf(content: string): string {
  return content.replace(/^ *lastTransitionTime: .*$/gm, "");
}
