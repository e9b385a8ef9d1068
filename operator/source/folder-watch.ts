/**
 * Watches folders and reports paths that may have changed.
 *
 * It is level-based: a notice only asks for another scan, and a periodic notice makes up for events that the operating
 * system lost. There is one watcher for each folder and none for files, because Node's recursive watch needs a watcher
 * for each file on Linux.
 */
import { type FSWatcher, watch } from "node:fs";
import { join } from "node:path";
import { isManifestName } from "./scan-folder.ts";

export interface FolderWatchOptions {
  /** Paths of files that may have changed; "everything" when that is not known. */
  readonly onNotice: (path: string | "everything") => void;
  readonly compareEveryMs: number;
}

export class FolderWatch {
  readonly #options: FolderWatchOptions;
  readonly #watchers = new Map<string, FSWatcher>();
  readonly #timer: NodeJS.Timeout;

  constructor(options: FolderWatchOptions) {
    this.#options = options;
    this.#timer = setInterval(() => options.onNotice("everything"), options.compareEveryMs);
    this.#timer.unref();
  }

  /** Watches exactly these folders from now on. */
  follow(folders: ReadonlySet<string>): void {
    for (const [folder, watcher] of this.#watchers) {
      if (folders.has(folder)) continue;
      watcher.close();
      this.#watchers.delete(folder);
    }
    for (const folder of folders) if (!this.#watchers.has(folder)) this.#watch(folder);
  }

  close(): void {
    clearInterval(this.#timer);
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  #watch(folder: string): void {
    let watcher: FSWatcher;
    try {
      watcher = watch(folder, { persistent: false });
    } catch {
      // There is no watcher (the folder is gone, or the system's limit is reached): the periodic scan covers it.
      return;
    }
    watcher.on("change", (_event, name) => {
      const isFile = typeof name === "string" && isManifestName(name);
      this.#options.onNotice(isFile ? join(folder, name) : "everything");
    });
    watcher.on("error", () => {
      watcher.close();
      this.#watchers.delete(folder);
      this.#options.onNotice("everything");
    });
    this.#watchers.set(folder, watcher);
  }
}
