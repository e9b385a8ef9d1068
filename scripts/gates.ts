/** What must hold of the tree before any test is run: format and lint, types, generated files unchanged. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { projectRoot, runTool } from "./run.ts";

export interface Gate {
  readonly name: string;
  /** Says on the terminal what is wrong. @returns whether nothing is */
  readonly run: () => boolean | Promise<boolean>;
}

/** Its `ci` command colours its words also where nobody can see it. */
const colours = process.stdout.isTTY ? "--colors=force" : "--colors=off";

export const formatAndLint: Gate = {
  name: "format and lint",
  run: () => runTool("@biomejs/biome/bin/biome", ["ci", colours, "."], "inherit").status === 0,
};

export const types: Gate = {
  name: "types",
  run: () => runTool("typescript/bin/tsc", ["-p", "tsconfig.json"], "inherit").status === 0,
};

export const generatedFiles: Gate = {
  name: "generated files",
  run: () => {
    const script = join(projectRoot, "scripts", "tasks", "generate.ts");
    return spawnSync(process.execPath, [script, "--check"], { cwd: projectRoot, stdio: "inherit" }).status === 0;
  },
};

/** Runs a gate and tells how it went. */
export async function pass(gate: Gate): Promise<boolean> {
  const startedMs = performance.now();
  const isGood = await gate.run();
  console.log(
    `${isGood ? "ok    " : "FAILED"}  ${gate.name} (${((performance.now() - startedMs) / 1_000).toFixed(1)} s)`,
  );
  return isGood;
}

/** Runs one gate after the other, whatever becomes of them. @returns how many failed */
export async function countFailed(gates: readonly Gate[]): Promise<number> {
  let failed = 0;
  for (const gate of gates) if (!(await pass(gate))) failed += 1;
  return failed;
}
