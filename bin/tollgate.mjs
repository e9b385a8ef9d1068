#!/usr/bin/env node
/**
 * The `tollgate` command: finds a Node that is new enough and runs `cli/main.ts` with it.
 * Plain JavaScript on purpose, as `scripts/bootstrap.mjs`.
 */
import { spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { findNode } from "../scripts/find-node.mjs";

const main = join(dirname(fileURLToPath(import.meta.url)), "..", "cli", "main.ts");
const node = findNode();
const compiled = join(dirname(main), "..", "node_modules", ".cache", "compiled");
// Before anything is loaded, and for threads as well: what was compiled before needs no compiler, which takes 30 MB and
// as much again in each thread.
process.env.NODE_COMPILE_CACHE ??= compiled;
if (node === process.execPath) {
  // Older versions, which may run this file, have no such function.
  const { enableCompileCache } = await import("node:module");
  enableCompileCache(process.env.NODE_COMPILE_CACHE);
  process.argv[1] = main;
  await import(main);
} else {
  const child = spawn(node, [main, ...process.argv.slice(2)], { stdio: "inherit" });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("exit", (code) => process.exit(code ?? 1));
}
