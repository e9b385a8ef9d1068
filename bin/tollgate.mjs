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
if (node === process.execPath) {
  process.argv[1] = main;
  await import(main);
} else {
  const child = spawn(node, [main, ...process.argv.slice(2)], { stdio: "inherit" });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("exit", (code) => process.exit(code ?? 1));
}
