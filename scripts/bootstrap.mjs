/**
 * Turns a fresh clone on any machine with Node >= 18 and npm into a working one, then runs a task.
 *
 * Plain JavaScript on purpose: this file must run on the oldest Node that can start us. It installs what the lock
 * file names (without install scripts), finds a Node that is new enough (the running one, else the one that npm
 * brought), and hands over. Called by every script of package.json: `node scripts/bootstrap.mjs TASK [ARGUMENTS]`.
 */
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { findNode } from "./find-node.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const [task, ...rest] = process.argv.slice(2);
if (task === undefined || !existsSync(join(root, "scripts", "tasks", `${task}.ts`))) {
  console.error(`bootstrap: unknown task "${task ?? ""}": the tasks are the files in scripts/tasks/`);
  process.exit(2);
}

installIfNeeded();
const node = findNode();
// What was compiled before needs no compiler: it takes 30 MB, and as much again in each thread.
const compiled = process.env.NODE_COMPILE_CACHE ?? join(root, "node_modules", ".cache", "compiled");
const child = spawn(node, [join(root, "scripts", "tasks", `${task}.ts`), ...rest], {
  cwd: root,
  stdio: "inherit",
  env: { ...process.env, NODE_COMPILE_CACHE: compiled },
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  // The child decides how to end (drain); we only pass the wish on and wait.
  process.on(signal, () => child.kill(signal));
}
child.on("error", (error) => {
  console.error(`bootstrap: could not start ${node}: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => process.exit(code ?? (signal === null ? 1 : 1)));

/** Installs the packages of the lock file, once for each state of it. */
function installIfNeeded() {
  const lock = readFileSync(join(root, "package-lock.json"));
  const wanted = createHash("sha256").update(lock).digest("hex");
  const stamp = join(root, "node_modules", ".tollgate-installed");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return;
  console.error("Installing packages (first start, about half a minute) ...");
  const npm = process.platform === "win32" ? "npm.cmd" : "npm";
  const result = spawnSync(npm, ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
    shell: process.platform === "win32",
  });
  if (result.status !== 0) {
    console.error("bootstrap: `npm ci --ignore-scripts` failed; see its messages above");
    process.exit(1);
  }
  writeFileSync(stamp, wanted);
}
