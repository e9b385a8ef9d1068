/** `node scripts/bootstrap.mjs image TARGET FOLDER`: writes what that image holds below `/app`. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { imageTargets } from "#scripts/image/targets";
import { compileSources, writeImageTree } from "#scripts/image/write-tree";

const [name = "", out] = process.argv.slice(2);
const target = imageTargets[name];
if (target === undefined || out === undefined) {
  console.error(`image: give a target (${Object.keys(imageTargets).join(", ")}) and a folder`);
  process.exit(2);
}
const compiled = mkdtempSync(join(tmpdir(), "tollgate-image-"));
try {
  compileSources(compiled);
  writeImageTree(target, compiled, out);
} finally {
  rmSync(compiled, { recursive: true, force: true });
}
