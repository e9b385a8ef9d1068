/**
 * Makes a folder and its parents, mode 0700, one level after the other. Node's own `recursive` loops for ever and
 * ignores signals where an existing parent refuses children with ENOENT, as that of /proc does.
 */
import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/**
 * @param path absolute
 * @throws Error with the code of the level that cannot be made; ENOTDIR where something else is there
 */
export function makeFolder(path: string): void {
  const missing: string[] = [];
  for (let level = path; !isFolder(level); level = dirname(level)) missing.push(level);
  for (const level of missing.reverse()) {
    try {
      mkdirSync(level, { mode: 0o700 });
    } catch (error) {
      // Another process made it meanwhile.
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST" && isFolder(level))) throw error;
    }
  }
}

function isFolder(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined || found.isDirectory()) return found !== undefined;
  throw Object.assign(new Error(`ENOTDIR: ${path} is no folder`), { code: "ENOTDIR" });
}
