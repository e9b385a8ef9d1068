/** `node scripts/bootstrap.mjs image TARGET FOLDER`: writes what that image holds below `/app`. */
import { imageTargets } from "../image/targets.ts";
import { writeImageTree } from "../image/write-tree.ts";

const [name = "", out] = process.argv.slice(2);
const target = imageTargets[name];
if (target === undefined || out === undefined) {
  console.error(`image: give a target (${Object.keys(imageTargets).join(", ")}) and a folder`);
  process.exit(2);
}
writeImageTree(target, out);
