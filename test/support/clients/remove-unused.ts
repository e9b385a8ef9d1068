/** Keeps a cache of installed packages from growing with each new state of the manifests. */
import { readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";

/** What `install` names its folders, whole ones and those that a killed install left behind: nothing else is touched. */
const installed = /^(?:node|python)-[0-9a-f]{16}(?:\..+)?$/;

/**
 * Removes the folders of a cache that were not touched for longer than `unusedMsMax`.
 * @param nowMs as `Date.now()` tells it
 */
export function removeUnused(cache: string, unusedMsMax: number, nowMs: number): void {
  for (const name of readdirSync(cache)) {
    const folder = join(cache, name);
    // Another run may remove the same one.
    const touchedMs = statSync(folder, { throwIfNoEntry: false })?.mtimeMs;
    if (!installed.test(name) || touchedMs === undefined || nowMs - touchedMs <= unusedMsMax) continue;
    rmSync(folder, { recursive: true, force: true });
  }
}
