/** `npm run bench`: the figures of the request path and of the configuration, see `test/bench/run.ts`. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { projectRoot } from "../run.ts";

const script = join(projectRoot, "test", "bench", "run.ts");
process.exit(
  spawnSync(process.execPath, [script, ...process.argv.slice(2)], { cwd: projectRoot, stdio: "inherit" }).status ?? 1,
);
