/**
 * `npm run check`: format, lint, types, import boundaries, generated files unchanged, unit tests and goldens.
 * The two minutes' gate before a commit; nothing merges without it.
 */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { projectRoot, runTool } from "../run.ts";
import { runSuites } from "../suites.ts";
import { checkTypes } from "../types-check.ts";

const results: { readonly name: string; readonly isGood: boolean; readonly durationMs: number }[] = [];

async function step(name: string, run: () => boolean | Promise<boolean>): Promise<void> {
  const startedMs = performance.now();
  const isGood = await run();
  results.push({ name, isGood, durationMs: Math.round(performance.now() - startedMs) });
}

await step("format and lint", () => runTool("@biomejs/biome/bin/biome", ["ci", "."], "inherit").status === 0);
await step("types", checkTypes);
await step("generated files", () => {
  const script = join(projectRoot, "scripts", "tasks", "generate.ts");
  return spawnSync(process.execPath, [script, "--check"], { cwd: projectRoot, stdio: "inherit" }).status === 0;
});
await step("unit tests and goldens", async () => (await runSuites(["unit", "golden"])).failed === 0);

console.log("");
for (const { name, isGood, durationMs } of results) {
  console.log(`${isGood ? "ok    " : "FAILED"}  ${name.padEnd(24)} ${(durationMs / 1000).toFixed(1)} s`);
}
process.exit(results.every((result) => result.isGood) ? 0 : 1);
