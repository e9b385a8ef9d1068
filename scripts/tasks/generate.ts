/**
 * Writes every generated file of the tree (`npm run generate`); with `--check` it writes nothing and fails on drift.
 *
 * Sources are `proxy/snapshot/schema.json`, `crds/*.yaml`, `operator/presets/*.yaml`, `operator/resources/reasons.ts` and
 * `proxy/endpoints/endpoints.ts`; the outputs are committed so that a reader and the programs need no build step.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { relative } from "node:path";
import { generators } from "#scripts/generators/index";
import { projectRoot } from "#scripts/run";

const isCheck = process.argv.includes("--check");
const stale: string[] = [];
for (const generate of generators) {
  for (const { path, content } of await generate()) {
    const before = existsSync(path) ? readFileSync(path, "utf8") : undefined;
    if (before === content) continue;
    if (isCheck) stale.push(relative(projectRoot, path));
    else {
      writeFileSync(path, content);
      console.log(`wrote ${relative(projectRoot, path)}`);
    }
  }
}
if (stale.length > 0) {
  console.error(`Generated files differ from their sources: ${stale.join(", ")}. Run \`npm run generate\` and commit.`);
  process.exit(1);
}
