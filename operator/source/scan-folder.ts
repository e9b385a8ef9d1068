/** Lists the manifest files below a folder. It distinguishes paths that do not exist from paths that cannot be read. */
import type { BigIntStats } from "node:fs";
import { lstat, readdir, stat } from "node:fs/promises";
import { join } from "node:path";

/** Identifies a state of a file without reading it: each write changes ctime, each rename the inode. */
export type FileStamp = string;

export interface FolderListing {
  /** Paths of manifest files. */
  readonly files: ReadonlyMap<string, FileStamp>;
  /** The folder and all below it. */
  readonly folders: ReadonlySet<string>;
  /** Paths that exist and could not be read, mostly folders: nothing may be concluded about them and their content. */
  readonly unreadable: ReadonlyMap<string, string>;
}

const foldersMax = 10_000;

/** @param excluded a folder below the root that is not scanned */
export async function scanFolder(root: string, excluded?: string): Promise<FolderListing> {
  const files = new Map<string, FileStamp>();
  const folders = new Set<string>();
  const unreadable = new Map<string, string>();
  const open = [root];
  /** Identities of folders: a link may lead back to a folder above it, or two links to the same one. */
  const seen = new Set<string>();
  const rootStats = await statOf(root);
  if (typeof rootStats === "object") seen.add(identityOf(rootStats));
  for (let folder = open.pop(); folder !== undefined && folders.size < foldersMax; folder = open.pop()) {
    let names: string[];
    try {
      names = await readdir(folder);
    } catch (error) {
      if (folder === root || codeOf(error) !== "ENOENT") unreadable.set(folder, codeOf(error));
      continue;
    }
    folders.add(folder);
    for (const name of names.sort()) {
      // Hidden names are editors' swap files and the bookkeeping of mounted ConfigMaps.
      if (name.startsWith(".")) continue;
      const path = join(folder, name);
      const stats = await statOf(path);
      if (typeof stats === "string") {
        // A folder without the right to enter it may still be listed: then the names are there, and what they refer to
        // cannot be told. Otherwise the name is a link to such a place.
        const isClosed = typeof (await statOf(path, lstat)) === "string";
        unreadable.set(isClosed ? folder : path, stats);
        if (isClosed) break;
      } else if (stats?.isDirectory()) {
        if (path === excluded || seen.has(identityOf(stats))) continue;
        seen.add(identityOf(stats));
        open.push(path);
      } else if (stats?.isFile() && isManifestName(name)) {
        files.set(path, stampOf(stats));
      }
    }
  }
  return { files, folders, unreadable };
}

export function isManifestName(name: string): boolean {
  return !name.startsWith(".") && /\.(yaml|yml|json)$/.test(name);
}

/** The stamp of one file; undefined when it does not exist, `unknown` when it cannot be read. */
export async function stampFile(path: string): Promise<FileStamp | "unknown" | undefined> {
  const stats = await statOf(path);
  if (typeof stats === "string") return "unknown";
  return stats?.isFile() ? stampOf(stats) : undefined;
}

/** @returns undefined when it is gone since the listing or is a broken link; an error code when it cannot be read */
async function statOf(
  path: string,
  look: typeof stat | typeof lstat = stat,
): Promise<BigIntStats | string | undefined> {
  try {
    return await look(path, { bigint: true });
  } catch (error) {
    const code = codeOf(error);
    return code === "ENOENT" || code === "ENOTDIR" || code === "ELOOP" ? undefined : code;
  }
}

function identityOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}

/** Size in bytes of the file that a stamp was taken of. */
export function sizeOfStamp(stamp: FileStamp): number {
  return Number(stamp.split(":")[1]);
}

function stampOf(stats: BigIntStats): FileStamp {
  return `${stats.ino}:${stats.size}:${stats.mtimeNs}:${stats.ctimeNs}`;
}

export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "unknown";
}
