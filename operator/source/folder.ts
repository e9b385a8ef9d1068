/**
 * Reads resources from watched folders of manifests. In standalone mode it replaces the list-watch of a cluster.
 *
 * Invariants: an event only asks for a scan, and each scan reads the present files; no error empties the resource set;
 * a file is applied only when nobody is writing it, and a version that removes something (a file that is gone, empty,
 * broken or cut short) is applied only after it has not changed for a while; a file that is gone is removed behind a second
 * listing, which would show its new name. Called by the operator's wiring.
 */
import { createHash } from "node:crypto";
import { readdir } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { setImmediate as giveWay } from "node:timers/promises";
import type { ResourceChange, ResourceSet } from "#operator/resources/resource";
import { DoubtfulVersions } from "./doubtful-versions.ts";
import { environmentContent, type SecretFromEnvironment } from "./environment-secrets.ts";
import { FolderWatch } from "./folder-watch.ts";
import { parseDocument, splitDocuments } from "./manifest-file.ts";
import { type FileContent, ManifestStore, type PlacedDocument } from "./manifest-store.ts";
import { readManifestFile, type UnreadText } from "./read-manifest-file.ts";
import { type FileStamp, isManifestName, scanFolder, sizeOfStamp, stampFile } from "./scan-folder.ts";

export interface FolderSourceOptions {
  readonly folder: string;
  /** The data folder's `secrets/`, written by `generate` credentials; it may not exist yet. */
  readonly secretsFolder?: string;
  readonly secretsFromEnvironment?: readonly SecretFromEnvironment[];
  /** Quiet time after a notice. */
  readonly debounceMs?: number;
  /** How long a version that removes something must not change before it is applied. */
  readonly settleMs?: number;
  readonly compareEveryMs?: number;
}

export type ChangeCallback = (changes: readonly ResourceChange[]) => void;

/** Errors of this process, such as too many open files, which say nothing about the file. */
const ownWants: ReadonlySet<string> = new Set(["EMFILE", "ENFILE", "ENOMEM", "EAGAIN"]);

/**
 * How long a file that is gone may be looked for under another name, while others come and go: in time for what its removal
 * takes away from a caller (docs/design/reliability.md N1).
 */
const lookedForMs = 500;

/** How long parsing may hold the event loop before it gives way. */
const parseSliceMs = 10;

/** By kind, namespace and name. */
type Changes = Map<string, ResourceChange>;

interface Applied {
  readonly stamp: FileStamp;
  readonly digest: string;
  readonly text: { readonly length: number; readonly endsLine: boolean };
}

export class FolderSource {
  readonly #options: Required<Omit<FolderSourceOptions, "secretsFolder">> & {
    readonly secretsFolder: string | undefined;
  };
  readonly #givenFolder: string;
  readonly #store = new ManifestStore();
  readonly #watch: FolderWatch;
  readonly #callbacks = new Set<ChangeCallback>();
  readonly #applied = new Map<string, Applied>();
  readonly #doubtful: DoubtfulVersions;
  /** Paths that could not be read, and why. */
  #unreadable: ReadonlyMap<string, string> = new Map();
  /** Those that are watched. */
  #folders: ReadonlySet<string> = new Set();
  #notices = 0;
  #open = new Set<string>();
  #scanning: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #timerDueMs = Number.POSITIVE_INFINITY;
  #isClosed = false;

  constructor(options: FolderSourceOptions) {
    this.#givenFolder = options.folder;
    this.#options = {
      secretsFromEnvironment: [],
      debounceMs: 5,
      settleMs: 50,
      compareEveryMs: 2_000,
      secretsFolder: undefined,
      ...options,
      // Whole and without a trailing slash: paths are compared as texts.
      folder: resolve(options.folder),
      ...(options.secretsFolder !== undefined && { secretsFolder: resolve(options.secretsFolder) }),
    };
    this.#doubtful = new DoubtfulVersions(this.#options.settleMs);
    this.#watch = new FolderWatch({
      compareEveryMs: this.#options.compareEveryMs,
      onNotice: (path) => {
        this.#notices += 1;
        this.#scanSoon(path, this.#options.debounceMs);
      },
    });
  }

  /** All objects as they are now: a live view. */
  current(): ResourceSet {
    return this.#store.resources;
  }

  /** Calls back after each scan that changed an object or a problem. @returns a function that ends the listening */
  onChange(callback: ChangeCallback): () => void {
    this.#callbacks.add(callback);
    return () => this.#callbacks.delete(callback);
  }

  /**
   * Reads everything once and then watches.
   *
   * @throws Error when the folder cannot be listed: a wrong path should not look like an empty gateway.
   */
  async start(): Promise<void> {
    const listing = await scanFolder(this.#options.folder, this.#dataFolder);
    const problem = listing.unreadable.get(this.#options.folder);
    if (problem !== undefined)
      throw new Error(`the manifest folder ${this.#options.folder} cannot be read (${problem})`);
    const environment = environmentContent(this.#options.secretsFromEnvironment);
    if (environment) this.#store.put(environment.file, environment);
    // Watch before reading: a change in between is then seen twice instead of never.
    this.#follow(listing.folders);
    this.#open.add("everything");
    await this.#scan(true);
  }

  /** The data folder may lie among the manifests, and the files that the operator writes there are no manifests. */
  get #dataFolder(): string | undefined {
    return this.#options.secretsFolder === undefined ? undefined : dirname(this.#options.secretsFolder);
  }

  /** Scans everything now; resolves when the resource set is up to date with the files. */
  async refresh(): Promise<void> {
    this.#open.add("everything");
    await this.#scan(false);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#watch.close();
    await this.#scanning;
  }

  #scanSoon(path: string, delayMs: number): void {
    if (this.#isClosed) return;
    this.#open.add(path);
    const dueMs = performance.now() + delayMs;
    // A long wait for one file must not hold up another.
    if (this.#timerDueMs <= dueMs) return;
    clearTimeout(this.#timer);
    this.#timerDueMs = dueMs;
    this.#timer = setTimeout(() => {
      this.#timerDueMs = Number.POSITIVE_INFINITY;
      void this.#scan(false);
    }, delayMs);
    this.#timer.unref();
  }

  /** One scan at a time; notices that come meanwhile are for the next scan. */
  async #scan(isFirst: boolean): Promise<void> {
    while (this.#scanning) await this.#scanning;
    if (this.#isClosed || this.#open.size === 0) return;
    const open = this.#open;
    this.#open = new Set();
    this.#scanning = this.#applyDiffering(open, isFirst).finally(() => {
      this.#scanning = undefined;
    });
    await this.#scanning;
  }

  async #applyDiffering(open: ReadonlySet<string>, isFirst: boolean): Promise<void> {
    const problemsBefore = this.#store.resources.problems;
    const changes: Changes = new Map();
    const paths = open.has("everything") ? await this.#differing() : [...open];
    const gone = await this.#reconcileFiles(paths, isFirst, changes);
    if (gone.length > 0) await this.#removeFiles(gone, changes);
    const hasNewProblems = !isSameReport(problemsBefore, this.#store.resources.problems);
    if (changes.size === 0 && !hasNewProblems) return;
    for (const callback of this.#callbacks) callback([...changes.values()]);
  }

  /** @returns those that are gone, and have been for a while */
  async #reconcileFiles(paths: readonly string[], isFirst: boolean, changes: Changes): Promise<readonly string[]> {
    const gone: string[] = [];
    for (const path of [...paths].sort()) {
      const found = await this.#reconcileFile(path, isFirst);
      if (found === "gone") gone.push(path);
      else addChanges(changes, found);
    }
    return gone;
  }

  /**
   * Removes files that are gone, behind what is there under names that nobody has read: one of them may be the same file, and
   * nothing of it is away in between.
   */
  async #removeFiles(gone: readonly string[], changes: Changes): Promise<void> {
    const noticesBefore = this.#notices;
    await this.#reconcileFiles(await this.#unreadFiles(), false, changes);
    // Two turns, in which the system tells what came while the folders were listed.
    await giveWay();
    await giveWay();
    const isSure = this.#notices === noticesBefore && !this.#hasUnread;
    for (const path of gone) {
      if (!isSure && this.#doubtful.ageMs(path) < lookedForMs) this.#scanSoon(path, this.#options.debounceMs);
      else if ((await stampFile(path)) === undefined) addChanges(changes, this.#removeFile(path));
    }
  }

  async #unreadFiles(): Promise<readonly string[]> {
    const found: string[] = [];
    for (const folder of this.#folders) {
      const names = await readdir(folder).catch(() => []);
      found.push(...names.filter(isManifestName).map((name) => join(folder, name)));
    }
    return found.filter((path) => !this.#applied.has(path));
  }

  /** Whether there is a file that is not in force yet, because somebody may be writing it. */
  get #hasUnread(): boolean {
    return [...this.#doubtful.paths()].some((path) => !this.#applied.has(path));
  }

  /** Files whose stamp is not the one applied, and those that are gone. */
  async #differing(): Promise<string[]> {
    const roots = [this.#options.folder, this.#options.secretsFolder].filter((root) => root !== undefined);
    const folders = new Set<string>();
    const differing: string[] = [];
    const unreadable = new Map<string, string>();
    for (const root of roots) {
      const listing = await scanFolder(root, root === this.#options.folder ? this.#dataFolder : undefined);
      for (const folder of listing.folders) folders.add(folder);
      for (const [path, stamp] of listing.files) if (this.#applied.get(path)?.stamp !== stamp) differing.push(path);
      for (const path of this.#applied.keys()) {
        if (!isBelow(path, root) || listing.files.has(path) || listing.unreadable.has(path)) continue;
        if (![...listing.unreadable.keys()].some((folder) => isBelow(path, folder))) differing.push(path);
      }
      for (const [path, code] of listing.unreadable) {
        // The folder of keys that are made is made with the first of them.
        if (path !== this.#options.secretsFolder || code !== "ENOENT") unreadable.set(path, code);
      }
    }
    this.#noteUnreadable(unreadable);
    this.#follow(folders);
    return differing;
  }

  #follow(folders: ReadonlySet<string>): void {
    this.#folders = folders;
    this.#watch.follow(folders);
  }

  /** Reports paths that cannot be read. Their last good content stays in force. */
  #noteUnreadable(unreadable: ReadonlyMap<string, string>): void {
    for (const path of this.#unreadable.keys())
      if (!unreadable.has(path) && !this.#applied.has(path)) this.#store.put(this.#nameOf(path), undefined);
    for (const [path, code] of unreadable) {
      if (this.#unreadable.get(path) === code || this.#applied.has(path)) continue;
      const failure = `It cannot be read (${code}); its last good content stays in force.`;
      this.#store.put(this.#nameOf(path), {
        file: this.#nameOf(path),
        rank: this.#rankOf(path),
        documents: [],
        failure,
      });
    }
    this.#unreadable = unreadable;
  }

  async #reconcileFile(path: string, isFirst: boolean): Promise<ResourceChange[] | "gone"> {
    const stamp = await stampFile(path);
    // The next scan compares again.
    if (stamp === "unknown") return [];
    const applied = this.#applied.get(path);
    if (stamp === undefined) return this.#isGone(path) ? "gone" : [];
    if (applied?.stamp === stamp) return [];
    const read = await readManifestFile(path, sizeOfStamp(stamp));
    if (read === undefined) return this.#isGone(path) ? "gone" : [];
    if ((await stampFile(path)) !== stamp) {
      // Somebody is writing the file: scan again when they have paused.
      this.#scanSoon(path, this.#options.debounceMs);
      return [];
    }
    if ("failure" in read) return this.#fail(path, stamp, read);
    const { text } = read;
    const digest = createHash("sha256").update(text).digest("base64");
    const next: Applied = {
      stamp,
      digest,
      text: { length: text.length, endsLine: text === "" || text.endsWith("\n") },
    };
    if (applied?.digest === digest) {
      this.#applied.set(path, next);
      this.#doubtful.delete(path);
      return [];
    }
    const documents = await this.#parse(path, text);
    const content: FileContent = { file: this.#nameOf(path), rank: this.#rankOf(path), documents };
    if (!isFirst && this.#isDoubtful(content, next, applied) && !this.#isUnchangedLongEnough(path, digest)) return [];
    this.#doubtful.delete(path);
    this.#applied.set(path, next);
    return this.#store.put(this.#nameOf(path), content);
  }

  #isGone(path: string): boolean {
    if (this.#applied.has(path)) return this.#isUnchangedLongEnough(path, "gone");
    this.#doubtful.delete(path);
    return false;
  }

  #removeFile(path: string): ResourceChange[] {
    this.#applied.delete(path);
    this.#doubtful.delete(path);
    return this.#store.put(this.#nameOf(path), undefined);
  }

  #fail(path: string, stamp: FileStamp, { failure, code }: UnreadText): ResourceChange[] {
    // The next scan compares again.
    if (code !== undefined && ownWants.has(code)) return [];
    if (!this.#isUnchangedLongEnough(path, failure)) return [];
    this.#doubtful.delete(path);
    // A file that was read is read again when it changes; one that was not may become readable without a change.
    const known = code === undefined ? stamp : "";
    this.#applied.set(path, { stamp: known, digest: "", text: { length: 0, endsLine: true } });
    if (this.#store.file(this.#nameOf(path))?.failure === failure) return [];
    return this.#store.put(this.#nameOf(path), {
      file: this.#nameOf(path),
      rank: this.#rankOf(path),
      documents: [],
      failure,
    });
  }

  /** Whether a version has been unchanged for long enough; if not, another scan is planned for that time. */
  #isUnchangedLongEnough(path: string, digest: string): boolean {
    const leftMs = this.#doubtful.note(path, digest);
    if (leftMs > 0) this.#scanSoon(path, leftMs);
    return leftMs === 0;
  }

  /** A version that could be the beginning of one still being written. */
  #isDoubtful(content: FileContent, next: Applied, applied: Applied | undefined): boolean {
    if (content.documents.some(({ parsed }) => parsed.isBroken)) return true;
    if (next.text.length === 0) return true;
    if (!next.text.endsLine && (applied?.text.endsLine ?? true)) return true;
    const count = (documents: readonly PlacedDocument[]) =>
      documents.reduce((sum, { parsed }) => sum + parsed.objects.length, 0);
    return count(content.documents) < count(this.#store.file(content.file)?.documents ?? []);
  }

  /** Parses a file; documents whose text did not change keep their parsed value. */
  async #parse(path: string, text: string): Promise<PlacedDocument[]> {
    const known = new Map(
      this.#store.file(this.#nameOf(path))?.documents.map(({ place, parsed }) => [place.digest, parsed]),
    );
    const documents: PlacedDocument[] = [];
    let sliceStartMs = performance.now();
    for (const { line, digest, text: own } of splitDocuments(text)) {
      documents.push({ place: { line, digest }, parsed: known.get(digest) ?? parseDocument(own) });
      if (performance.now() - sliceStartMs < parseSliceMs) continue;
      await giveWay();
      sliceStartMs = performance.now();
    }
    return documents;
  }

  /** A file as people know it: by the folder as they gave it. */
  #nameOf(path: string): string {
    const { folder } = this.#options;
    return isBelow(path, folder) ? join(this.#givenFolder, relative(folder, path)) : path;
  }

  #rankOf(path: string): number {
    return this.#options.secretsFolder !== undefined && isBelow(path, this.#options.secretsFolder) ? 1 : 0;
  }
}

function addChanges(changes: Changes, found: readonly ResourceChange[]): void {
  for (const change of found) changes.set(`${change.kind}/${change.namespace}/${change.name}`, change);
}

function isBelow(path: string, folder: string): boolean {
  for (let above = dirname(path); ; above = dirname(above)) {
    if (above === folder) return true;
    if (above === dirname(above)) return false;
  }
}

function isSameReport(left: readonly unknown[], right: readonly unknown[]): boolean {
  return left === right || JSON.stringify(left) === JSON.stringify(right);
}
