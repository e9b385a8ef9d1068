/** JSON as the project's formatter writes it, so that a generated file passes the same gate as every other. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { projectRoot } from "#scripts/run";

/** @throws Error when the formatter fails */
export function formatJson(name: string, value: unknown): string {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(projectRoot, "node_modules/@biomejs/biome/bin/biome"), "format", `--stdin-file-path=${name}`],
    { cwd: projectRoot, input: JSON.stringify(value, null, 2), encoding: "utf8" },
  );
  if (status !== 0) throw new Error(`the formatter refused ${name}: ${stderr}`);
  return stdout;
}
