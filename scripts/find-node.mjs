/**
 * Finds a Node that can run this project: TypeScript without a build step and `node:sqlite` need Node 24.
 *
 * The running Node if it is new enough, else the one that npm installed as an ordinary package (no install script,
 * integrity in the lock file). Plain JavaScript: it must run on the oldest Node that can start us.
 */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const NODE_MAJOR_LEAST = 24;
const root = join(dirname(fileURLToPath(import.meta.url)), "..");

/** @returns {string} path of a Node >= 24; ends the process with status 1 and a hint when there is none. */
export function findNode() {
  if (Number(process.versions.node.split(".")[0]) >= NODE_MAJOR_LEAST) return process.execPath;
  const platform = process.platform === "win32" ? "win" : process.platform;
  const binary = process.platform === "win32" ? "node.exe" : "node";
  for (const name of [`node-${platform}-${process.arch}`, `node-bin-${platform}-${process.arch}`]) {
    const path = join(root, "node_modules", name, "bin", binary);
    if (existsSync(path)) return path;
  }
  console.error(
    `tollgate: this machine runs Node ${process.versions.node} on ${process.platform}/${process.arch}, for which npm ` +
      `has no Node ${NODE_MAJOR_LEAST} package. Install Node ${NODE_MAJOR_LEAST} or newer and try again.`,
  );
  process.exit(1);
}
