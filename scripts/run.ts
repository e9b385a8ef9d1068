/** Runs the tools of the project's tasks with the Node and the packages of this clone. */
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Root folder of the clone. */
export const projectRoot = join(dirname(fileURLToPath(import.meta.url)), "..");

export interface ToolResult {
  readonly status: number;
  readonly output: string;
}

/**
 * Runs a package's command (its JavaScript entry) and waits.
 *
 * @param script path inside `node_modules`, for example `mocha/bin/mocha.js`
 * @param mode `inherit` shows the output at once, `capture` returns it
 */
export function runTool(script: string, toolArguments: readonly string[], mode: "inherit" | "capture"): ToolResult {
  const result = spawnSync(process.execPath, [join(projectRoot, "node_modules", script), ...toolArguments], {
    cwd: projectRoot,
    stdio: mode === "inherit" ? "inherit" : ["ignore", "pipe", "pipe"],
    encoding: "utf8",
    maxBuffer: 256 * 1024 * 1024,
  });
  return { status: result.status ?? 1, output: `${result.stdout ?? ""}${result.stderr ?? ""}` };
}
